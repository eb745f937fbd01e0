/** Largest event that a run keeps whole, bytes of JSON (decisions, L). */
const MAX_EVENT_BYTES = 65_536;
/** What stays of a larger one. Longer texts than any title go; 30 texts of 2,000 characters fit well. */
const MAX_KEPT_TEXT = 2_000;
const MAX_KEPT_FIELDS = 30;

type Event = Readonly<Record<string, unknown>>;

const isKept = (value: unknown): boolean =>
  typeof value === 'string' ? value.length <= MAX_KEPT_TEXT : value === null || typeof value !== 'object';

/**
 * The event as a run stores it. Of a large one only the plain fields of its first level stay, and its run can never be
 * replayed, because that would work on other data than the first time (F7, F10).
 */
export function fitEvent(event: Event): { event: Event; truncated: boolean } {
  if (Buffer.byteLength(JSON.stringify(event)) <= MAX_EVENT_BYTES) return { event, truncated: false };
  let left = MAX_EVENT_BYTES - 2; // its braces
  const kept = Object.entries(event).filter(([name, value]) => {
    // Names are as long as whoever made the event up wants them to be, and a character may be written as six bytes. One for the comma.
    const bytes = isKept(value) ? Buffer.byteLength(JSON.stringify({ [name]: value })) - 1 : Infinity;
    if (bytes > left) return false;
    left -= bytes;
    return true;
  });
  return { event: Object.fromEntries(kept.slice(0, MAX_KEPT_FIELDS)), truncated: true };
}
