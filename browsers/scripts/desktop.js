// Objects of every desktop build that the headless shell lacks: window.chrome and the PDF viewer among the plugins.
(() => {
  const define = (target, name, value, enumerable = false) =>
    Object.defineProperty(target, name, {value, enumerable, configurable: true, writable: true});

  // A bound function has no source, like a native one.
  const native = work => {
    const bound = work.bind(null);
    Object.defineProperty(bound, "name", {value: "", configurable: true});
    Object.defineProperty(bound, "prototype", {value: {}, writable: true});
    return bound;
  };

  const addChrome = () => {
    const started = performance.timeOrigin;
    const loaded = () => performance.timing.loadEventEnd || Date.now();
    const loadTimes = () => {
      const seconds = name => performance.timing[name] / 1000;
      const [paint] = performance.getEntriesByName("first-paint");
      const protocol = performance.getEntriesByType("navigation")[0]?.nextHopProtocol ?? "";
      const isMultiplexed = protocol === "h2" || protocol === "h3";
      return {
        requestTime: started / 1000,
        startLoadTime: started / 1000,
        commitLoadTime: seconds("responseStart"),
        finishDocumentLoadTime: seconds("domContentLoadedEventEnd"),
        finishLoadTime: seconds("loadEventEnd"),
        firstPaintTime: paint ? (started + paint.startTime) / 1000 : 0,
        firstPaintAfterLoadTime: 0,
        navigationType: "Other",
        wasFetchedViaSpdy: isMultiplexed,
        wasNpnNegotiated: isMultiplexed,
        npnNegotiatedProtocol: isMultiplexed ? protocol : "",
        wasAlternateProtocolAvailable: false,
        connectionInfo: protocol || "unknown",
      };
    };
    const csi = () => ({startE: Math.floor(started), onloadT: loaded(), pageT: performance.now(), tran: 15});
    const app = {
      isInstalled: false,
      getDetails: native(() => null),
      getIsInstalled: native(() => false),
      installState: native(done => { done?.("not_installed"); }),
      runningState: native(() => "cannot_run"),
      InstallState: {DISABLED: "disabled", INSTALLED: "installed", NOT_INSTALLED: "not_installed"},
      RunningState: {CANNOT_RUN: "cannot_run", READY_TO_RUN: "ready_to_run", RUNNING: "running"},
    };
    define(window, "chrome", {loadTimes: native(loadTimes), csi: native(csi), app}, true);
    // The object of a desktop build is not among the last names of the window.
    const others = Object.getOwnPropertyNames(window).filter(name => name.startsWith("on")).slice(-60);
    for (const name of others) {
      const property = Object.getOwnPropertyDescriptor(window, name);
      if (property.configurable && delete window[name]) Object.defineProperty(window, name, property);
    }
  };

  const addPdfViewer = () => {
    const about = "Portable Document Format";
    const names = ["PDF Viewer", "Chrome PDF Viewer", "Chromium PDF Viewer", "Microsoft Edge PDF Viewer", "WebKit built-in PDF"];
    // The lists are native and cannot hold items: numbers are found on their prototypes.
    const fill = (list, items, key) => {
      items.forEach((item, at) => {
        define(Object.getPrototypeOf(list), at, item, true);
        define(list, item[key], item);
      });
      define(list, "length", items.length);
    };
    const types = ["application/pdf", "text/pdf"].map(type => {
      const item = Object.create(MimeType.prototype);
      Object.entries({type, suffixes: "pdf", description: about}).forEach(([name, value]) => define(item, name, value));
      return item;
    });
    const plugins = names.map(name => {
      const item = Object.create(Plugin.prototype);
      Object.entries({name, filename: "internal-pdf-viewer", description: about, length: types.length})
        .forEach(([field, value]) => define(item, field, value));
      types.forEach((type, at) => { define(item, at, type, true); define(item, type.type, type); });
      return item;
    });
    types.forEach(type => define(type, "enabledPlugin", plugins[0]));
    fill(navigator.plugins, plugins, "name");
    fill(navigator.mimeTypes, types, "type");
  };

  if (!window.chrome) addChrome();
  if (!navigator.plugins.length) addPdfViewer();
})();
