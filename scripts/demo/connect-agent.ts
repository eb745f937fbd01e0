import { type CallToolResult, Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

type Answer = Record<string, unknown>;

/** Connects an agent as any MCP client would: it has the address of the service and a token. `use` throws what a tool refuses. */
export async function connectAgent(base: string | URL, token: string) {
  const client = new Client({ name: 'demo-agent', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
  const headers = { authorization: `Bearer ${token}` };
  await client.connect(new StreamableHTTPClientTransport(new URL('/api/mcp', base), { requestInit: { headers } }));
  return {
    client,
    use: async (name: string, args: Answer): Promise<Answer> => {
      const result = (await client.callTool({ name, arguments: args })) as CallToolResult;
      const content = result.structuredContent as Answer;
      if (result.isError) throw new Error(`${name} answered ${JSON.stringify(content)}`);
      return content;
    },
  };
}
