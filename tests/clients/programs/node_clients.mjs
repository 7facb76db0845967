// One of several Node clients on a server: lists its tools, reads a page, fails to read another.
// `node node_clients.mjs NAME TASK`, in the folder that holds node_modules; the task and what was seen are JSON.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const resolve = createRequire(process.cwd() + "/package.json").resolve;
const load = (name) => import(pathToFileURL(resolve(name)).href);
const [name, given] = process.argv.slice(2);
const task = JSON.parse(given);
const me = { name: "test", version: "1" };
const request = { headers: task.headers };

async function sdk(Client, Http, Stdio) {
  const client = new Client(me);
  await client.connect(
    task.command ? new Stdio(task.command) : new Http(new URL(task.url), { requestInit: request }),
  );
  const tools = (await client.listTools()).tools.map((tool) => tool.name);
  const good = await client.callTool({ name: "fetch", arguments: task.good });
  const bad = await client.callTool({ name: "fetch", arguments: task.bad });
  const seen = await client.callTool({ name: "see", arguments: task.see });
  const picture = seen.content.find((block) => block.type === "image");
  await client.close();
  return {
    tools,
    good: good.content[0].text,
    bad: bad.content[0].text,
    is_error: bad.isError,
    picture: [picture.mimeType, picture.data.slice(0, 8)],
  };
}

const clients = {
  async sdk_1() {
    const { Client } = await load("@modelcontextprotocol/sdk/client/index.js");
    const { StreamableHTTPClientTransport } = await load("@modelcontextprotocol/sdk/client/streamableHttp.js");
    const { StdioClientTransport } = await load("@modelcontextprotocol/sdk/client/stdio.js");
    return sdk(Client, StreamableHTTPClientTransport, StdioClientTransport);
  },

  async sdk_2() {
    const { Client, StreamableHTTPClientTransport } = await load("@modelcontextprotocol/client");
    const { StdioClientTransport } = await load("@modelcontextprotocol/client/stdio");
    return sdk(Client, StreamableHTTPClientTransport, StdioClientTransport);
  },

  async vercel() {
    const { createMCPClient, experimental_createMCPClient } = await load("@ai-sdk/mcp");
    let transport = { type: "http", url: task.url, headers: task.headers };
    if (task.command) {
      const stdio = await load("@ai-sdk/mcp/mcp-stdio");
      transport = new (stdio.Experimental_StdioMCPTransport ?? stdio.StdioMCPTransport)(task.command);
    }
    const client = await (createMCPClient ?? experimental_createMCPClient)({ transport });
    const tools = await client.tools();
    const options = { messages: [], toolCallId: "1" };
    const good = await tools.fetch.execute(task.good, options);
    const bad = await tools.fetch.execute(task.bad, options).catch((error) => ({ content: [{ text: error.message }] }));
    await client.close();
    return { tools: Object.keys(tools), good: good.content[0].text, bad: bad.content[0].text, is_error: true };
  },
};

const late = new Promise((_, reject) => setTimeout(() => reject(new Error("late")), 100_000));
console.log(JSON.stringify(await Promise.race([clients[name](), late])));
process.exit(0);
