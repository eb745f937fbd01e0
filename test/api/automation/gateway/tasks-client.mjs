// An agent with the protocol's extension for tasks, in a process of its own: its client accepts no objects of the test runner's realm.
// Calls the tool `echo` at GATEWAY_URL with GATEWAY_TOKEN and prints the outcome and the methods it sent.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createTaskSessionFromClient } from '@modelcontextprotocol/ext-tasks/client';

const { GATEWAY_URL: url, GATEWAY_TOKEN: token } = process.env;
const authorization = `Bearer ${token}`;
const protocolVersion = '2026-07-28';
const clientInfo = { name: 'agent', version: '1' };
const clientCapabilities = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
const sent = [];

async function rawDispatch(message) {
  const { method, params } = message;
  sent.push(method);
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      authorization,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': protocolVersion,
      'mcp-method': method,
      'mcp-name': params.name ?? params.taskId,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: sent.length, ...message }),
  });
  return response.json();
}

const client = new Client(clientInfo, { versionNegotiation: { mode: 'auto' }, capabilities: clientCapabilities });
await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { authorization } } }));
const v2RequestFraming = { protocolVersion, clientInfo, clientCapabilities };
const session = createTaskSessionFromClient(client, { endpointId: 'gateway', v2RequestFraming, rawDispatch });
const execution = await session.callTool('echo', { text: 'hello' });
const { outcome } = await execution.settle();
await session.close();
await client.close();
console.log(JSON.stringify({ outcome, sent }));
