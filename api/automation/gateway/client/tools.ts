import { canonicalJson, computeHash } from '../../../gate/staging/canonical.js';
import { hiddenCharacter } from '../../../gate/staging/hidden-character.js';
import { UpstreamFailure, type UpstreamSession } from './session.js';

const MAX_TOOLS = 128;
const MAX_PAGES = 20;
const MAX_DEFINITION = 16_384;
const PINNED = ['name', 'title', 'description', 'inputSchema', 'outputSchema', 'annotations'] as const;

/** A tool as another server shows it. */
export interface SeenTool {
  name: string;
  /** Its definition (RFC 8785): what agents read, and what is pinned. */
  definition: string;
  hash: Buffer;
}

/** A definition as agents read it. */
export interface ToolDefinition {
  name: string;
  title?: string;
  description?: string;
  inputSchema: Record<string, unknown>;
  outputSchema?: Record<string, unknown>;
  annotations?: Record<string, unknown>;
}

export const readDefinition = (definition: string): ToolDefinition => JSON.parse(definition) as ToolDefinition;

/** Returns a tool that can be pinned; undefined for one that is too long, has no name or schema, or holds invisible characters. */
function toSeen(given: unknown): SeenTool | undefined {
  if (typeof given !== 'object' || given === null) return undefined;
  const fields = given as Record<string, unknown>;
  const { name, inputSchema } = fields;
  if (typeof name !== 'string' || name === '' || name.length > 200 || typeof inputSchema !== 'object') return undefined;
  const kept = Object.fromEntries(PINNED.filter((field) => fields[field] !== undefined).map((field) => [field, fields[field]]));
  if (hiddenCharacter(kept) !== undefined) return undefined;
  const definition = canonicalJson(kept);
  if (Buffer.byteLength(definition) > MAX_DEFINITION) return undefined;
  return { name, definition, hash: computeHash('assent.tool.v1\n', definition) };
}

/**
 * Lists the tools of a server that can be pinned, each once.
 * @throws UpstreamFailure also for more than 128 tools
 */
export async function listTools(session: UpstreamSession): Promise<Map<string, SeenTool>> {
  const found = new Map<string, SeenTool>();
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const { tools, nextCursor } = await session.request('tools/list', cursor === undefined ? {} : { cursor });
    for (const tool of (Array.isArray(tools) ? tools : []).map(toSeen)) if (tool) found.set(tool.name, tool);
    if (found.size > MAX_TOOLS) throw new UpstreamFailure('too_many_tools', `The server has more than ${MAX_TOOLS} tools`, false);
    if (typeof nextCursor !== 'string') return found;
    cursor = nextCursor;
  }
  throw new UpstreamFailure('too_many_tools', 'The server’s list of tools does not end', false);
}
