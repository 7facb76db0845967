// The same questions in a page, a frame and workers: one browser gives one answer.
const facts = async () => {
  const agent = navigator.userAgentData;
  const hints = await agent?.getHighEntropyValues?.(
    ["architecture", "bitness", "fullVersionList", "model", "platformVersion", "uaFullVersion", "wow64"]);
  const canvas = new OffscreenCanvas(16, 16);
  const gl = canvas.getContext("webgl");
  const names = gl?.getExtension("WEBGL_debug_renderer_info");
  return {
    userAgent: navigator.userAgent,
    platform: navigator.platform,
    languages: navigator.languages.join(),
    cores: navigator.hardwareConcurrency,
    memory: navigator.deviceMemory,
    zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    locale: Intl.DateTimeFormat().resolvedOptions().locale,
    brands: JSON.stringify(agent?.brands),
    hints: JSON.stringify(hints),
    graphics: names ? [gl.getParameter(names.UNMASKED_VENDOR_WEBGL), gl.getParameter(names.UNMASKED_RENDERER_WEBGL)].join()
      : String(gl),
  };
};
if (typeof DedicatedWorkerGlobalScope !== "undefined") facts().then(postMessage);
if (typeof SharedWorkerGlobalScope !== "undefined") onconnect = event => facts().then(told => event.ports[0].postMessage(told));
