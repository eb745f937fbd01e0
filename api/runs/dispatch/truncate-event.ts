/** Largest event that a run keeps whole, bytes of JSON (decisions, L). */
const MAX_EVENT_BYTES = 65_536;

/** How a larger one is shortened, gentlest first: characters of a text, entries of a list, of which a condition sees no more either. */
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

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** JSON data with its long texts cut short, which shows, and its long lists. */
function shorten(value: unknown, step: (typeof STEPS)[number]): unknown {
  const [characters, entries] = step;
  if (typeof value === 'string') return value.length > characters ? `${value.slice(0, characters).toWellFormed()}…` : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.slice(0, entries).map((entry) => shorten(entry, step));
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, shorten(field, step)]));
}

/** As many fields as there is room for, the small ones first, in their order. */
function fieldsThatFit(event: Event): Event {
  let left = MAX_EVENT_BYTES - 2; // its braces
  const sized = Object.entries(event).map(([name, value]) => ({ name, bytes: bytesOf({ [name]: value }) - 1 })); // one for the comma
  const kept = new Set<string>();
  for (const { name, bytes } of sized.toSorted((a, b) => a.bytes - b.bytes)) {
    left -= bytes;
    if (left < 0) break;
    kept.add(name);
  }
  return Object.fromEntries(Object.entries(event).filter(([name]) => kept.has(name)));
}

/**
 * The event as a run stores it and its actions read it. Of a large one the long texts and lists are shortened, no more than need be, so
 * that whatever names short fields and first entries goes on working; a field goes whole only where that is not enough. Its run
 * cannot be replayed (F7, F10; contract, section 3).
 */
export function truncateEvent(event: Event): FittedEvent {
  const json = JSON.stringify(event);
  if (Buffer.byteLength(json) <= MAX_EVENT_BYTES) return { event, truncated: false };
  let cut = JSON.parse(json) as Event;
  for (const step of STEPS) {
    cut = shorten(cut, step) as Event;
    if (bytesOf(cut) <= MAX_EVENT_BYTES) return { event: cut, truncated: true };
  }
  return { event: fieldsThatFit(cut), truncated: true };
}
