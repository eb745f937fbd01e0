import { redactSecrets } from '../../../platform/http-client/redact-secrets.js';

/** UTF-16 units of text that a result keeps. */
const MAX_TEXT = 60_000;

/** What a tool returned, as the gateway passes it on. */
export interface ToolResult {
  content: { type: 'text'; text: string }[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
}

/** Blocks that a result keeps. */
const MAX_BLOCKS = 100;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the object of a JSON text; undefined if it is none, for example because a secret held a quote. */
function parseObject(json: string): Record<string, unknown> | undefined {
  try {
    const value = JSON.parse(json) as unknown;
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Returns texts of at most `MAX_TEXT` together, without secrets. Cut before they are read: the process that serves others looks for the secrets. */
function cleanTexts(texts: readonly string[], secrets: ReadonlySet<string>): string[] {
  let room = MAX_TEXT;
  const kept = texts.map((text) => {
    const part = text.slice(0, room);
    room -= part.length;
    return { part, isCut: part.length < text.length };
  });
  const apart = kept.map(({ part, isCut }) => redactSecrets(secrets, part, isCut));
  const isCut = kept.some((one) => one.isCut);
  const whole = redactSecrets(secrets, kept.map(({ part }) => part).join(''), isCut);
  // A secret that lies over two blocks is found in the whole only.
  const clean = whole === apart.join('') ? apart : [whole];
  return isCut ? [...clean.slice(0, -1), `${clean.at(-1) ?? ''}…`] : clean;
}

/**
 * Returns the texts and the structured content of a tool's result, without secrets. Other blocks are dropped with a note, and so is what exceeds the limit.
 */
export function cleanResult(given: Record<string, unknown>, secrets: ReadonlySet<string>): ToolResult {
  const blocks: unknown[] = Array.isArray(given['content']) ? given['content'] : [];
  const isText = (block: unknown): block is { text: string } =>
    isObject(block) && block['type'] === 'text' && typeof block['text'] === 'string';
  const texts = blocks
    .filter(isText)
    .slice(0, MAX_BLOCKS)
    .map(({ text }) => text);
  const dropped = blocks.length - texts.length;
  const content = cleanTexts(texts, secrets).map((text) => ({ type: 'text' as const, text }));
  const room = MAX_TEXT - content.reduce((sum, { text }) => sum + text.length, 0);
  if (dropped > 0) content.push({ type: 'text', text: `[${dropped} blocks that are no text were left out]` });
  const json = isObject(given['structuredContent']) ? JSON.stringify(given['structuredContent']) : '';
  const structured = json !== '' && json.length <= room ? parseObject(redactSecrets(secrets, json)) : undefined;
  return {
    content,
    ...(structured && { structuredContent: structured }),
    ...(given['isError'] === true && { isError: true }),
  };
}
