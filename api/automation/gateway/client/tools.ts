import { canonicalJson, computeHash } from '../../../gate/staging/canonical.js';
import { hiddenCharacter } from '../../../gate/staging/hidden-character.js';
import { UpstreamFailure, type UpstreamSession } from './session.js';

const MAX_TOOLS = 128;
const MAX_PAGES = 20;
const MAX_DEFINITION = 16_384;
/** Time of the whole list, ms: the approval of a call waits for it. */
const TIMEOUT_MS = 30_000;
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

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isSchema = (value: unknown): boolean => isObject(value) && value['type'] === 'object';
const isOptional = (value: unknown, is: (value: unknown) => boolean): boolean => value === undefined || is(value);
const isText = (value: unknown): value is string => typeof value === 'string';

/** Whether the protocol has such a tool. Clients drop a whole list for one that it has not. */
const isTool = ({ name, title, description, inputSchema, outputSchema, annotations }: Record<string, unknown>): boolean =>
  isText(name) &&
  name !== '' &&
  name.length <= 200 &&
  isOptional(title, isText) &&
  isOptional(description, isText) &&
  isSchema(inputSchema) &&
  isOptional(outputSchema, isSchema) &&
  isOptional(annotations, isObject);

/** Returns a tool that can be pinned; undefined for one that is too long, is none, holds invisible characters or a secret that the server was sent. */
function toSeen(given: unknown, session: UpstreamSession): SeenTool | undefined {
  if (!isObject(given) || !isTool(given)) return undefined;
  const kept = Object.fromEntries(PINNED.filter((field) => given[field] !== undefined).map((field) => [field, given[field]]));
  if (hiddenCharacter(kept) !== undefined) return undefined;
  const definition = canonicalJson(kept);
  if (Buffer.byteLength(definition) > MAX_DEFINITION || session.redact(definition) !== definition) return undefined;
  const name = given['name'] as string;
  return { name, definition, hash: computeHash('assent.tool.v1\n', definition) };
}

/**
 * Lists the tools of a server that can be pinned, each once.
 * @throws UpstreamFailure also for more than 128 tools
 */
export async function listTools(session: UpstreamSession): Promise<Map<string, SeenTool>> {
  const found = new Map<string, SeenTool>();
  const deadline = performance.now() + TIMEOUT_MS;
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    if (performance.now() > deadline) throw new UpstreamFailure('timeout', 'The server takes too long to list its tools', false);
    const { tools, nextCursor } = await session.request('tools/list', cursor === undefined ? {} : { cursor });
    for (const given of Array.isArray(tools) ? (tools as unknown[]).slice(0, 2 * MAX_TOOLS) : []) {
      const tool = toSeen(given, session);
      if (tool) found.set(tool.name, tool);
    }
    if (found.size > MAX_TOOLS) throw new UpstreamFailure('too_many_tools', `The server has more than ${MAX_TOOLS} tools`, false);
    if (typeof nextCursor !== 'string') return found;
    cursor = nextCursor;
  }
  throw new UpstreamFailure('too_many_tools', 'The server’s list of tools does not end', false);
}
