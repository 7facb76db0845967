// Checks configurations by the schemas of their clients: `node check_configurations.mjs JSON`, where JSON maps the
// name of a client to the content of its file. Prints the errors by client.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const resolve = createRequire(process.cwd() + "/package.json").resolve;
const { validateGeneratedConfig } = await import(pathToFileURL(resolve("@gleanwork/mcp-config-schema")).href);
const errors = {};
for (const [client, content] of Object.entries(JSON.parse(process.argv[2]))) {
  const result = validateGeneratedConfig(content, client);
  if (!result.success) errors[client] = result.error.issues;
}
console.log(JSON.stringify(errors));
