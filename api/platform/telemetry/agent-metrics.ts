import { Counter } from 'prom-client';
import { metrics } from './metrics.js';

const calls = new Counter({
  name: 'mcp_calls_total',
  help: 'Calls of a tool of the MCP endpoint, by how they ended: answered, refused, failed',
  labelNames: ['tool', 'end'] as const,
  registers: [metrics],
});

/** Counts a call; `tool` is one of our names, never a caller's. */
export function countMcpCall(tool: string, end: 'answered' | 'refused' | 'failed'): void {
  calls.inc({ tool, end });
}
