// What a page found goes into its own text, so that reading the page is enough; what it finds later goes home.
const report = (findings, notes = {}) => {
  if (document.getElementById("report")) return;
  const out = document.createElement("pre");
  out.id = "report";
  out.textContent = JSON.stringify({findings, notes});
  document.body.append(out);
};
const late = finding => navigator.sendBeacon("/late", JSON.stringify({
  page: location.pathname.split("/").pop(),
  visitor: new URLSearchParams(location.search).get("visitor"),
  findings: [finding],
}));
addEventListener("error", event => report([`the page failed: ${event.message}`]));
addEventListener("unhandledrejection", event => report([`the page failed: ${event.reason}`]));
const failing = checks => Object.entries(checks).filter(([, found]) => found).map(([name]) => name);
