/** Maximum size of an event that a run stores whole, in bytes of JSON (docs/decisions/automation.md#event-size). */
const MAX_EVENT_BYTES = 65_536;

/**
 * Truncation steps, gentlest first: maximum characters of a text, maximum entries of a list. Conditions read at most 200 entries.
 */
const STEPS = [
  [16_384, 200],
  [8_192, 200],
  [4_096, 200],
  [2_048, 200],
  [2_048, 50],
  [1_024, 20],
  [512, 5],
] as const;

type Event = Readonly<Record<string, unknown>>;
export interface FittedEvent {
  event: Event;
  truncated: boolean;
}

const countBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** Truncates long texts, which then end in "…", and long lists. */
function shorten(value: unknown, step: (typeof STEPS)[number]): unknown {
  const [characters, entries] = step;
  if (typeof value === 'string') return value.length > characters ? `${value.slice(0, characters).toWellFormed()}…` : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.slice(0, entries).map((entry) => shorten(entry, step));
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, shorten(field, step)]));
}

/** Keeps as many fields as fit, smallest first, in their original order. */
function fieldsThatFit(event: Event): Event {
  let left = MAX_EVENT_BYTES - 2; // the braces
  const sized = Object.entries(event).map(([name, value]) => ({ name, bytes: countBytes({ [name]: value }) - 1 })); // plus a comma
  const kept = new Set<string>();
  for (const { name, bytes } of sized.toSorted((a, b) => a.bytes - b.bytes)) {
    left -= bytes;
    if (left < 0) break;
    kept.add(name);
  }
  return Object.fromEntries(Object.entries(event).filter(([name]) => kept.has(name)));
}

/**
 * Truncates an event to the size that a run stores. Shortens texts and lists no more than needed, so that templates with short
 * fields and first entries still work; drops whole fields only if that is not enough. A run with a truncated event cannot be
 * replayed (docs/decisions/automation.md#event-size).
 */
export function truncateEvent(event: Event): FittedEvent {
  const json = JSON.stringify(event);
  if (Buffer.byteLength(json) <= MAX_EVENT_BYTES) return { event, truncated: false };
  let cut = JSON.parse(json) as Event;
  for (const step of STEPS) {
    cut = shorten(cut, step) as Event;
    if (countBytes(cut) <= MAX_EVENT_BYTES) return { event: cut, truncated: true };
  }
  return { event: fieldsThatFit(cut), truncated: true };
}
