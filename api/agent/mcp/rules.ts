/** Bytes of JSON that a tool's answer may have: it goes into a model's context. */
const MAX_ANSWER_BYTES = 16_384;

/** Characters of a text and items of a list that are kept, from generous to sparse. */
const STEPS: readonly { text: number; items: number }[] = [
  { text: 6_000, items: 200 },
  { text: 2_000, items: 100 },
  { text: 1_000, items: 50 },
  { text: 500, items: 50 },
  { text: 200, items: 20 },
  { text: 80, items: 10 },
  { text: 40, items: 3 },
  { text: 20, items: 1 },
];

const countBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

const cutText = (text: string, limit: number): string =>
  text.length <= limit ? text : `${text.slice(0, limit - 1).toWellFormed()}…`;

/** Ids and hashes are longer than the sparsest text and must stay whole. */
const MIN_TEXT = 128;
const isWhole = (key: string): boolean => /(?:_id|_hash|_url|_at|^id)$/.test(key);

function cutValue(value: unknown, step: (typeof STEPS)[number], key: string): unknown {
  if (typeof value === 'string') return cutText(value, isWhole(key) ? Math.max(step.text, MIN_TEXT) : step.text);
  if (Array.isArray(value)) return value.slice(0, step.items).map((each) => cutValue(each, step, key));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).slice(0, step.items);
  return Object.fromEntries(entries.map(([name, each]) => [cutText(name, MIN_TEXT), cutValue(each, step, name)]));
}

/**
 * Cuts texts and lists of an answer until it fits, and says so in `cut`. Returns the answer itself if it fits. The result is always an object
 * of at most `MAX_ANSWER_BYTES` bytes of JSON.
 */
export function fitAnswer(answer: Record<string, unknown>): Record<string, unknown> {
  if (countBytes(answer) <= MAX_ANSWER_BYTES) return answer;
  for (const step of STEPS) {
    const shorter = { ...(cutValue(answer, step, '') as Record<string, unknown>), cut: true };
    if (countBytes(shorter) <= MAX_ANSWER_BYTES) return shorter;
  }
  return { cut: true };
}

/** Characters of a text in a row of a list. */
const MAX_ROW_TEXT = 500;

/** Returns as many rows, with shortened texts, as fit into an answer beside its other fields. */
export function fitRows<Row>(rows: readonly Row[]): { rows: Row[]; cut: boolean } {
  const short = rows.map((row) => cutValue(row, { text: MAX_ROW_TEXT, items: 20 }, '') as Row);
  const kept: Row[] = [];
  let bytes = 512;
  for (const row of short) {
    bytes += countBytes(row) + 1;
    if (bytes > MAX_ANSWER_BYTES) break;
    kept.push(row);
  }
  return { rows: kept, cut: kept.length < rows.length };
}
