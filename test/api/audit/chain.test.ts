import { hash } from 'node:crypto';
import fc from 'fast-check';
import { canonicalForm, GENESIS, HASHED_FIELDS, linkEntry, type StoredEntry } from '../../../api/audit/chain.js';

const getOwnEntry = (values: (string | null)[]) =>
  Object.fromEntries(HASHED_FIELDS.map((field, i) => [field, values[i] ?? null])) as StoredEntry;

/** Any text that PostgreSQL can store, weighted towards what looks like the layout's own bytes. */
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.string({ unit: fc.constantFrom('\x00', '\x01', '\x02', 'a', 'é'), maxLength: 12 }),
);
const entries = fc
  .array(fc.option(text), { minLength: HASHED_FIELDS.length, maxLength: HASHED_FIELDS.length })
  .map((values) => getOwnEntry(values));
const sequences = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
const hashes = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes));

/** Reads the documented layout back, knowing nothing of the code that writes it. */
function readForm(form: Buffer): { layout: number; sequence: number; previous: Buffer; entry: StoredEntry } {
  const values: (string | null)[] = [];
  let at = 41;
  while (at < form.length) {
    if (form[at] === 0) {
      values.push(null);
      at += 1;
    } else {
      const end = at + 5 + form.readUInt32BE(at + 1);
      values.push(form.toString('utf8', at + 5, end));
      at = end;
    }
  }
  expect(values).toHaveLength(HASHED_FIELDS.length);
  return {
    layout: form[0] as number,
    sequence: Number(form.readBigUInt64BE(1)),
    previous: form.subarray(9, 41),
    entry: getOwnEntry(values),
  };
}

const example = getOwnEntry([
  '019a9f00-0000-7000-8000-000000000001',
  '019a9f00-0000-7000-8000-000000000001',
  '2026-11-20T17:51:02.123456',
  '019a9f00-0000-7000-8000-0000000000aa',
  null,
  'ada@demo.test',
  'user',
  null,
  null,
  '10.0.0.7',
  '',
  'tasks',
  'create',
  'LOW',
  'success',
  'task',
  'k1',
  '{"title": "Zoë"}',
]);

it('reads back as what went in, so no two entries or places share their bytes', () => {
  fc.assert(
    fc.property(entries, sequences, hashes, (entry, sequence, previous) => {
      expect(readForm(canonicalForm(entry, sequence, previous))).toEqual({ layout: 1, sequence, previous, entry });
    }),
    { numRuns: 500 },
  );
});

it('text cannot move over the border of two fields', () => {
  const border = fc.integer({ min: 0, max: HASHED_FIELDS.length - 2 });
  fc.assert(
    fc.property(entries, border, text, fc.nat(), fc.nat(), (entry, at, whole, a, b) => {
      const characters = Array.from(whole);
      const cut = (n: number) => n % (characters.length + 1);
      fc.pre(cut(a) !== cut(b));
      const split = (n: number) => ({
        ...entry,
        [HASHED_FIELDS[at] as string]: characters.slice(0, cut(n)).join(''),
        [HASHED_FIELDS[at + 1] as string]: characters.slice(cut(n)).join(''),
      });
      expect(canonicalForm(split(a), 1, GENESIS.hash).equals(canonicalForm(split(b), 1, GENESIS.hash))).toBe(false);
    }),
    { numRuns: 500 },
  );
});

it('null, the empty text and a zero byte differ in every field', () => {
  for (const field of HASHED_FIELDS) {
    const hashes = [null, '', '\x00'].map((value) => linkEntry({ ...example, [field]: value }, GENESIS).hash.toString('hex'));
    expect(new Set(hashes).size).toBe(3);
  }
});

it('keeps the layout that sealed chains were made with', () => {
  const first = linkEntry(example, GENESIS);
  const second = linkEntry(example, first);
  expect([first.sequence, second.sequence]).toEqual([1, 2]);
  expect(first.hash).toEqual(hash('sha256', canonicalForm(example, 1, Buffer.alloc(32)), 'buffer'));
  expect([first.hash.toString('hex'), second.hash.toString('hex')]).toEqual([
    '591c95ad31d3122f8a0692157745f9fe16ae7ff6be8cd666771d32b5fbcd19ad',
    '45a5547928ce82515783c0a79704b30b2bcc4f384ee52f2de790deb256e3ca8e',
  ]);
});
