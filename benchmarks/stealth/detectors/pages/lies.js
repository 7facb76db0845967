// What CreepJS is known for: headless by name, stealth by its side effects, lies by comparing realms.
const heard = (target, limit = 8000) => Promise.race([
  new Promise(done => target.addEventListener("message", event => done(event.data), {once: true})),
  new Promise(done => setTimeout(done, limit, null)),
]);
const freshRealm = () => {
  const frame = document.createElement("iframe");
  document.body.append(frame);
  return frame.contentWindow;
};

const GETTERS = [
  [Navigator, ["userAgent", "appVersion", "platform", "language", "languages", "hardwareConcurrency", "deviceMemory",
    "webdriver", "plugins", "mimeTypes", "vendor", "maxTouchPoints", "connection", "userAgentData", "permissions"]],
  [Screen, ["width", "height", "availWidth", "availHeight", "colorDepth", "pixelDepth"]],
  [HTMLIFrameElement, ["contentWindow", "contentDocument"]],
  [Notification, ["permission"]],
];
const METHODS = [
  [Function, ["toString"]], [Permissions, ["query"]], [Date, ["getTimezoneOffset", "toLocaleString"]],
  [HTMLCanvasElement, ["toDataURL", "getContext"]], [CanvasRenderingContext2D, ["getImageData", "measureText"]],
  [WebGLRenderingContext, ["getParameter", "getExtension"]], [WebGL2RenderingContext, ["getParameter"]],
  [HTMLMediaElement, ["canPlayType"]], [Element, ["getClientRects", "getBoundingClientRect"]],
  [NavigatorUAData, ["getHighEntropyValues", "toJSON"]], [PluginArray, ["item"]], [Document, ["createElement"]],
];

// A native function has no source, no prototype, no constructor, and throws where it is misused.
const isFaked = (fn, name, realm) => {
  const source = realm.Function.prototype.toString.call(fn);
  if (![`function ${name}() { [native code] }`, `function get ${name}() { [native code] }`].includes(source)) return true;
  if (Object.getOwnPropertyNames(fn).some(own => !["length", "name"].includes(own))) return true;
  if (fn.toString !== Function.prototype.toString) return true;
  const throws = attempt => { try { attempt(); return false; } catch (error) { return error instanceof TypeError; } };
  const parent = Object.getPrototypeOf(fn);
  const misused = !throws(() => new fn()) || !throws(() => class extends fn {})
    || !throws(() => Object.setPrototypeOf(fn, Object.create(fn)));
  Object.setPrototypeOf(fn, parent);
  return misused;
};
const misuseSpeaks = (getter, owner) => {
  try { getter.call(Object.create(owner.prototype)); return true; }
  catch (error) { return !(error instanceof TypeError) || /Reflect|Proxy|apply/.test(error.stack.split("\n")[1] ?? ""); }
};

const apiLies = realm => {
  const lies = [];
  for (const [owner, names] of GETTERS) {
    for (const name of names) {
      const holder = owner === Notification ? owner : owner.prototype;
      const getter = Object.getOwnPropertyDescriptor(holder, name)?.get;
      if (!getter) { if (name in realm.navigator) lies.push(`lie: ${owner.name}.${name}`); continue; }
      const misused = owner !== Notification && misuseSpeaks(getter, owner);
      if (misused || isFaked(getter, name, realm)) lies.push(`lie: ${owner.name}.${name}`);
    }
  }
  for (const [owner, names] of METHODS)
    for (const name of names)
      if (isFaked(owner.prototype[name], name, realm)) lies.push(`lie: ${owner.name}.${name}`);
  for (const thing of [navigator, screen])
    lies.push(...Object.getOwnPropertyNames(thing).map(name => `lie: own ${name}`));
  return lies;
};

const stealthSigns = () => {
  const frame = document.createElement("iframe");
  frame.srcdoc = "x";
  const runtime = window.chrome?.runtime;
  const last = names => names.slice(-50).includes("chrome");
  return {
    "stealth: frame proxy": !!frame.contentWindow,
    "stealth: chrome came late": last(Object.keys(window)) && last(Object.getOwnPropertyNames(window)),
    "stealth: bad runtime": !!runtime && ["connect", "sendMessage"].some(name => runtime[name] && "prototype" in runtime[name]),
  };
};

(async () => {
  const realm = freshRealm();
  const page = await facts();
  const worker = await heard(new Worker("facts.js"));
  const {port} = new SharedWorker("facts.js");
  port.start();
  const shared = await heard(port);
  const frame = Object.fromEntries(["userAgent", "platform", "hardwareConcurrency", "webdriver"].map(
    name => [name, realm.navigator[name] === navigator[name]]));
  const differing = (place, told) => told === null ? [`${place}: silent`]
    : Object.keys(page).filter(name => page[name] !== told[name]).map(name => `${place}: ${name}`);
  report([
    ...failing({
      "headless: webdriver": navigator.webdriver === true,
      "headless: user agent": /headless/i.test(page.userAgent + page.brands),
      "headless: worker": /headless/i.test((worker?.userAgent ?? "") + (worker?.brands ?? "") + (shared?.userAgent ?? "")),
      ...stealthSigns(),
    }),
    ...apiLies(realm),
    ...Object.keys(frame).filter(name => !frame[name]).map(name => `frame: ${name}`),
    ...differing("worker", worker),
    ...differing("shared worker", shared),
  ], {page, worker, shared});
})();
