import { redactSecrets } from '../../../platform/http-client/redact-secrets.js';

/** UTF-16 units of text that a result keeps. */
const MAX_TEXT = 60_000;

/** What a tool returned, as the gateway passes it on. */
export interface ToolResult {
  content: { type: 'text'; text: string }[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
}

/**
 * Returns the texts and the structured content of a tool's result, without secrets. Other blocks are dropped with a note, and so is what exceeds the limit.
 */
export function cleanResult(given: Record<string, unknown>, secrets: ReadonlySet<string>): ToolResult {
  const clean = (text: string): string => redactSecrets(secrets, text);
  const blocks = (Array.isArray(given['content']) ? given['content'] : []) as { type?: unknown; text?: unknown }[];
  const texts = blocks.flatMap(({ type, text }) => (type === 'text' && typeof text === 'string' ? [text] : []));
  const dropped = blocks.length - texts.length;
  let room = MAX_TEXT;
  const content = texts.map((text): { type: 'text'; text: string } => {
    const kept = clean(text).slice(0, Math.max(room, 0));
    room -= kept.length;
    return { type: 'text', text: kept.length < text.length && room <= 0 ? `${kept}…` : kept };
  });
  if (dropped > 0) content.push({ type: 'text', text: `[${dropped} blocks that are no text were left out]` });
  const structured = given['structuredContent'];
  const json = typeof structured === 'object' && structured !== null ? clean(JSON.stringify(structured)) : undefined;
  const fits = json !== undefined && json.length <= room;
  return {
    content,
    ...(fits && { structuredContent: JSON.parse(json) as Record<string, unknown> }),
    ...(given['isError'] === true && { isError: true }),
  };
}
