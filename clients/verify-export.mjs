#!/usr/bin/env node
/**
 * Verifies an export of the audit log without the service and without dependencies: Node 20.19 or later is enough. The format is described
 * in audit.md, so that another language can do the same. `--help` prints the usage.
 */
import { createPublicKey, hash, verify } from 'node:crypto';
import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const USAGE = `verify-export FILE --keys PATH [--checkpoints FILE] [--json]

  FILE                an answer of POST /api/audit/export
  --keys PATH         public keys that you trust: a PEM file, or a folder of .pem files
  --checkpoints FILE  signed heads (audit-checkpoints.jsonl), which the export is compared with
  --without-keys      checks hashes and links only: whoever made the file could have made all of it
  --json              prints the report as JSON

Exit status: 0 intact, 1 broken, 2 not verified`;

/** Hashed fields of an entry, in this order. */
const FIELDS =
  'audit_id correlation_id timestamp team_id user_id user_email actor_type impersonator_id token_id ip_address user_agent feature action severity outcome entity_type entity_id details'.split(
    ' ',
  );
/** Signed filters, in this order. */
const FILTERS = 'team_id user_id feature action severity from_time to_time ip_address entity_type entity_id correlation_id'.split(
  ' ',
);
/** Members of an entry: `details` are the same as `details_text`. */
const ENTRY_MEMBERS = new Set([...FIELDS, 'sequence', 'details_text', 'prev_hash', 'entry_hash']);
/** Members of an export. */
const EXPORT_MEMBERS = new Set(['format', 'record_count', 'exported_at', 'audit_id', 'filters', 'chain', 'proof', 'data']);
const ENTRY_LAYOUT = 0x01;
const EXPORT_LAYOUT = 0x02;
const NO_HASH = '0'.repeat(64);
/** Entries of an export; with that many it may be cut. */
const MAX_ENTRIES = 10_000;
const HASH = /^[0-9a-f]{64}$/;

/** What does not fit, and where: the first entry that is wrong, if it is one. */
class Broken extends Error {
  constructor(detail, entry) {
    super(detail);
    this.entry = entry;
  }
}
/** The check cannot be made. */
class NotVerified extends Error {}
class Misused extends NotVerified {}

let form = Buffer.allocUnsafe(65_536);
let length = 0;
function reserve(bytes) {
  if (length + bytes > form.length) form = Buffer.concat([form.subarray(0, length), Buffer.alloc(length + bytes)]);
}
function putText(text) {
  if (text === null) {
    reserve(1);
    form[length++] = 0;
    return;
  }
  reserve(5 + text.length * 3);
  const written = form.write(text, length + 5);
  form[length] = 1;
  form.writeUInt32BE(written, length + 1);
  length += 5 + written;
}
function putNumber(value) {
  reserve(8);
  length = form.writeBigUInt64BE(BigInt(value), length);
}
function putHash(hex) {
  reserve(32);
  length += form.write(hex, length, 'hex');
}

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const isCount = (value) => Number.isSafeInteger(value) && value >= 0;
const place = (entry) => `sequence ${entry.sequence} of team ${entry.team_id}`;

/** Throws unless the entry has the fields of one, and no other: what has no part in the hash proves nothing. */
function checkShape(entry) {
  if (!isObject(entry)) throw new Broken('An entry is no object', undefined);
  const other = Object.keys(entry).find((name) => !ENTRY_MEMBERS.has(name));
  if (other !== undefined) throw new Broken(`The member ${other} is not covered by its hash`, entry);
  const text = (name) => (name === 'details' ? entry.details_text : entry[name]);
  const wrong = FIELDS.find((name) => text(name) !== null && typeof text(name) !== 'string');
  if (wrong) throw new Broken(`The field ${wrong} is neither a text nor null`, entry);
  // Half a surrogate pair has no bytes of its own: its hash would be that of another text.
  const unpaired = FIELDS.find((name) => text(name)?.isWellFormed() === false);
  if (unpaired) throw new Broken(`The field ${unpaired} is not Unicode`, entry);
  if (!isCount(entry.sequence) || entry.sequence === 0) throw new Broken('It has no sequence', entry);
  if (!HASH.test(entry.prev_hash) || !HASH.test(entry.entry_hash)) throw new Broken('It has no hashes', entry);
}

/** The longest number that a JSON writer produces for a double, all digits written out. */
const MAX_NUMBER_LENGTH = 400;

/** Returns the value of a number's text as sign, digits and exponent: the same for 1.50, 15e-1 and 1.5. */
function decimalOf(number) {
  const [, sign, whole, fraction = '', exponent = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(number);
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const kept = digits.replace(/0+$/, '');
  return kept === '' ? '0' : `${sign}${kept}e${Number(exponent) - fraction.length + digits.length - kept.length}`;
}

/** Whether a parsed number has exactly the value of its text: 1e999 and 41.00000000000000000001 have another one. */
const isExact = (number) =>
  number.length <= MAX_NUMBER_LENGTH &&
  Number.isFinite(Number(number)) &&
  decimalOf(number) === decimalOf(String(Number(number)));

/**
 * Throws unless every reader understands a JSON text as its parsed value: no object has a member twice, since readers differ in which one
 * counts, and no number loses digits. Every text before a colon names a member, and each member of the value was named once.
 */
function checkReading(text, value, entry) {
  let named = 0;
  for (const [found] of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"(?:[ \t\r\n]*:)?|-?\d[\d.eE+-]*/g)) {
    if (found.endsWith(':')) named += 1;
    else if (!found.startsWith('"') && !isExact(found)) {
      throw new Broken(`Programs read the number ${found.slice(0, 40)} with different values`, entry);
    }
  }
  const rest = [value];
  while (rest.length > 0) {
    const each = rest.pop();
    if (typeof each !== 'object' || each === null) continue;
    const inside = Object.values(each);
    if (!Array.isArray(each)) named -= inside.length;
    for (const one of inside) rest.push(one);
  }
  if (named !== 0) throw new Broken('An object of the file has the same member twice', entry);
}

/** Throws unless `details`, which people read, are `details_text`, which was hashed. */
function checkDetails(entry) {
  let details = null;
  let fits;
  try {
    if (entry.details_text !== null) details = JSON.parse(entry.details_text);
    fits = JSON.stringify(details) === JSON.stringify(entry.details);
  } catch {
    throw new Broken('Its details are not JSON, or nested too deeply', entry);
  }
  if (!fits) throw new Broken('Its details differ from its details_text', entry);
  if (entry.details_text !== null) checkReading(entry.details_text, details, entry);
}

/** Returns the hash of an entry, hexadecimal. */
export function hashEntry(entry) {
  length = 0;
  form[length++] = ENTRY_LAYOUT;
  putNumber(entry.sequence);
  putHash(entry.prev_hash);
  for (const name of FIELDS) putText(name === 'details' ? entry.details_text : entry[name]);
  return hash('sha256', form.subarray(0, length));
}

/** Returns the signed bytes of an export. */
export function exportForm(given) {
  length = 0;
  form[length++] = EXPORT_LAYOUT;
  for (const text of [given.format, given.exported_at, given.audit_id]) putText(text);
  for (const name of FILTERS) putText(given.filters[name] ?? null);
  putNumber(given.chain.length);
  for (const { team_id, first_sequence, last_sequence, head_hash } of given.chain) {
    putText(team_id);
    putNumber(first_sequence ?? 0);
    putNumber(last_sequence);
    putHash(head_hash);
  }
  putNumber(given.record_count);
  for (const { entry_hash } of given.data) putHash(entry_hash);
  return form.subarray(0, length);
}

/** Throws unless the export has the members of one. */
function checkHead(given) {
  const isText = (value) => typeof value === 'string' && value.isWellFormed();
  if (!isObject(given) || !Array.isArray(given.data) || !Array.isArray(given.chain) || !isObject(given.filters)) {
    throw new NotVerified('The file is not an export of the audit log');
  }
  if (![given.format, given.exported_at, given.audit_id].every(isText)) throw new Broken('The export lacks a field');
  const other = Object.keys(given).find((name) => !EXPORT_MEMBERS.has(name));
  if (other !== undefined) throw new Broken(`The member ${other} is not covered by the signature`);
  if (!Object.values(given.filters).every(isText)) throw new Broken('A filter is no text');
  const filter = Object.keys(given.filters).find((name) => !FILTERS.includes(name));
  if (filter !== undefined) throw new Broken(`There is no filter ${filter}`);
  for (const chain of given.chain) {
    const { team_id, first_sequence, last_sequence, head_hash, ...others } = isObject(chain) ? chain : {};
    if (Object.keys(others).length > 0) throw new Broken('A chain has a member that is not covered by the signature');
    const isPlaced = first_sequence === null || isCount(first_sequence);
    if (!isText(team_id) || !isPlaced || !isCount(last_sequence) || !HASH.test(head_hash))
      throw new Broken('A chain lacks a field');
  }
  if (given.record_count !== given.data.length) {
    throw new Broken(`The export names ${given.record_count} entries and has ${given.data.length}`);
  }
}

/** Throws unless the entry is one that the filters ask for. */
function checkFilters(entry, filters) {
  for (const name of FILTERS) {
    const wanted = filters[name];
    if (wanted === undefined) continue;
    const fits =
      name === 'from_time' ? entry.timestamp >= wanted : name === 'to_time' ? entry.timestamp <= wanted : entry[name] === wanted;
    if (!fits) throw new Broken(`It does not match the filter ${name}`, entry);
  }
}

/** Checks each entry by itself. Returns the entries of each team by their sequence. */
function checkEntries(given) {
  const teams = new Map(given.chain.map((chain) => [chain.team_id, new Map()]));
  if (teams.size !== given.chain.length) throw new Broken('The export names a chain twice');
  for (const entry of given.data) {
    checkShape(entry);
    if (hashEntry(entry) !== entry.entry_hash) throw new Broken('Its content does not have its hash', entry);
    checkDetails(entry);
    const placed = teams.get(entry.team_id);
    if (!placed) throw new Broken('The export names no chain of its team', entry);
    if (placed.has(entry.sequence)) throw new Broken('Another entry has its sequence', entry);
    placed.set(entry.sequence, entry);
    checkFilters(entry, given.filters);
  }
  return teams;
}

/** Checks the entries of one team against each other and against the head of its chain. Returns whether no entry is left out. */
function checkChain(chain, placed) {
  let lowest = null;
  for (const [sequence, entry] of placed) {
    lowest = lowest === null ? sequence : Math.min(lowest, sequence);
    if (sequence > chain.last_sequence) throw new Broken('It lies behind the end of its chain', entry);
    if (sequence === 1 && entry.prev_hash !== NO_HASH) throw new Broken('The first entry of a chain follows another', entry);
    const before = placed.get(sequence - 1);
    if (before && before.entry_hash !== entry.prev_hash) throw new Broken('It does not follow the entry before it', entry);
  }
  if (lowest !== chain.first_sequence) throw new Broken(`The lowest sequence of team ${chain.team_id} is not first_sequence`);
  if (chain.last_sequence === 0 && chain.head_hash !== NO_HASH)
    throw new Broken(`The empty chain of team ${chain.team_id} has a head`);
  const last = placed.get(chain.last_sequence);
  if (last && last.entry_hash !== chain.head_hash) throw new Broken('It is not the head of its chain', last);
  return placed.size === chain.last_sequence;
}

/** Throws if an entry is missing between the first and the head of a chain, where no filter and no limit explains it. */
function checkGaps(given, teams) {
  const isFiltered = Object.keys(given.filters).some((name) => name !== 'team_id');
  if (isFiltered || given.data.length >= MAX_ENTRIES) return;
  for (const { team_id, first_sequence, last_sequence } of given.chain) {
    // The export itself is an entry.
    if (first_sequence === null) throw new Broken(`No entry of team ${team_id} is here`);
    for (let sequence = first_sequence; sequence <= last_sequence; sequence += 1) {
      if (!teams.get(team_id).has(sequence)) throw new Broken(`Sequence ${sequence} of team ${team_id} is missing`);
    }
  }
}

function checkSignature(given, keys) {
  const { key_id, signature, ...others } = isObject(given.proof) ? given.proof : {};
  if (Object.keys(others).length > 0) throw new Broken('The proof has a member that is not one of it');
  const key = keys.get(key_id);
  if (!key)
    throw new NotVerified(`The export is signed with the key ${key_id}; you trust ${[...keys.keys()].join(', ') || 'none'}`);
  if (typeof signature !== 'string' || !verify(null, exportForm(given), key, Buffer.from(signature, 'base64'))) {
    throw new Broken(`The export is not what the key ${key_id} signed`);
  }
}

/** Checks the lines of a checkpoints file and calls `onHead(time, head)` for each chain that a line names. Returns the number of lines. */
function readCheckpoints(text, keys, onHead) {
  let previous = NO_HASH;
  let count = 0;
  for (const line of text.split('\n').filter((each) => each !== '')) {
    count += 1;
    const parts = /^(\{.*),"signature":"([\w+/=]+)"\}$/.exec(line);
    if (!parts) throw new Broken(`Line ${count} of the checkpoints is not a checkpoint`);
    const body = `${parts[1]}}`;
    const checkpoint = JSON.parse(body);
    const key = keys?.get(checkpoint.key_id);
    if (keys && !key)
      throw new NotVerified(
        `Line ${count} of the checkpoints is signed with the key ${checkpoint.key_id}, which you do not trust`,
      );
    if (key && !verify(null, Buffer.from(body), key, Buffer.from(parts[2], 'base64'))) {
      throw new Broken(`Line ${count} of the checkpoints is not what the key ${checkpoint.key_id} signed`);
    }
    if (checkpoint.previous !== previous) throw new Broken(`Line ${count} of the checkpoints does not follow the line before it`);
    previous = hash('sha256', line);
    for (const head of checkpoint.heads) onHead(checkpoint.time, head);
  }
  return count;
}

/** Compares the export with signed heads. */
function checkAgainst(text, keys, given, teams) {
  const chains = new Map(given.chain.map((chain) => [chain.team_id, chain]));
  return readCheckpoints(text, keys, (time, { chain: id, sequence, entry_hash }) => {
    const chain = chains.get(id);
    if (!chain) return;
    const entry = teams.get(id).get(sequence);
    if (entry && entry.entry_hash !== entry_hash) throw new Broken(`It is not the head that was signed at ${time}`, entry);
    if (sequence === chain.last_sequence && chain.head_hash !== entry_hash) {
      throw new Broken(`The head of team ${id} is not the one that was signed at ${time}`);
    }
    if (time <= given.exported_at && sequence > chain.last_sequence) {
      throw new Broken(`The chain of team ${id} ends before the head that was signed at ${time}: entries were cut off`);
    }
  });
}

/**
 * Verifies an export. `keys`: trusted public keys by id, or null to check no signature. `checkpoints`: the text of a checkpoints file.
 * Returns `{verdict: 'intact'|'broken'|'not_verified', detail, ...}`; `audit_id` and `sequence` name the first broken entry.
 */
export function verifyExport(given, keys, checkpoints) {
  try {
    checkHead(given);
    const teams = checkEntries(given);
    const complete = given.chain.map((chain) => checkChain(chain, teams.get(chain.team_id)));
    checkGaps(given, teams);
    if (keys) checkSignature(given, keys);
    const lines = checkpoints === undefined ? 0 : checkAgainst(checkpoints, keys, given, teams);
    return {
      verdict: 'intact',
      entries: given.data.length,
      teams: given.chain.length,
      complete: complete.every(Boolean),
      cut: given.data.length === MAX_ENTRIES,
      signed_by: keys ? given.proof.key_id : null,
      exported_at: given.exported_at,
      checkpoints: lines,
    };
  } catch (error) {
    if (error instanceof NotVerified) return { verdict: 'not_verified', detail: error.message };
    if (!(error instanceof Broken)) throw error;
    const { entry } = error;
    const at = entry && { audit_id: entry.audit_id, team_id: entry.team_id, sequence: entry.sequence };
    return {
      verdict: 'broken',
      detail: entry ? `Entry ${entry.audit_id} (${place(entry)}): ${error.message}` : error.message,
      ...at,
    };
  }
}

/** Returns the public keys in a PEM file or a folder of them, by their ids. */
export function readKeys(path) {
  const isFolder = statSync(path).isDirectory();
  const files = isFolder
    ? readdirSync(path)
        .filter((name) => name.endsWith('.pem'))
        .map((name) => join(path, name))
    : [path];
  const pems = files.flatMap(
    (file) => readFileSync(file, 'utf8').match(/-----BEGIN ([A-Z ]+)-----[\s\S]*?-----END \1-----/g) ?? [],
  );
  if (pems.length === 0) throw new NotVerified(`${path} has no key in PEM form`);
  return new Map(
    pems.map((pem) => {
      const key = createPublicKey(pem);
      const id = hash('sha256', key.export({ type: 'spki', format: 'der' })).slice(0, 16);
      return [id, key];
    }),
  );
}

/** Returns the report about an export as it was read; as `verifyExport`. */
function verifyText({ text, given }, keys, checkpoints) {
  const report = verifyExport(given, keys, checkpoints);
  if (report.verdict === 'broken') return report;
  try {
    checkReading(text, given);
    return report;
  } catch (error) {
    if (!(error instanceof Broken)) throw error;
    return { verdict: 'broken', detail: error.message };
  }
}

/** Returns a text of the file without what would change how a terminal shows the report. */
const printable = (text) => String(text).replace(/\p{C}/gu, '\uFFFD');

/** Returns a report as lines for people. */
export function describe(report) {
  if (report.verdict === 'not_verified') return `NOT VERIFIED: ${printable(report.detail)}${report.usage ? `\n\n${USAGE}` : ''}`;
  if (report.verdict === 'broken') return `EXPORT BROKEN: ${printable(report.detail)}`;
  const { entries, teams, complete, cut, signed_by, exported_at, checkpoints } = report;
  const count = (n, one, many) => `${n.toLocaleString('en')} ${n === 1 ? one : many}`;
  return [
    `export intact: ${count(entries, 'entry', 'entries')} of ${count(teams, 'team', 'teams')}, exported at ${printable(exported_at)}`,
    complete
      ? '  Every entry of the chain is here, from the first to the head.'
      : '  A part of the chain: filters or the limit left entries out.',
    ...(cut ? [`  ${MAX_ENTRIES.toLocaleString('en')} entries are the limit: older ones may be missing.`] : []),
    signed_by
      ? `  Signed with the key ${signed_by}.`
      : '  The signature was not checked: whoever made the file could have made all of it.',
    ...(checkpoints > 0 ? [`  It agrees with ${count(checkpoints, 'checkpoint', 'checkpoints')}.`] : []),
  ].join('\n');
}

/**
 * Reads an export: its text and its value.
 * @throws {NotVerified} if it is no JSON, as the table for spreadsheets is
 */
function readExport(file) {
  const text = readFileSync(file, 'utf8');
  try {
    return { text, given: JSON.parse(text) };
  } catch {
    throw new NotVerified(`${file} is no JSON. Only an export as JSON can be verified, not its table (CSV)`);
  }
}

/** Runs the command with these arguments. Returns its exit status. */
export function main(args) {
  const string = { type: 'string' };
  const flag = { type: 'boolean', default: false };
  const options = { keys: string, checkpoints: string, 'without-keys': flag, json: flag, help: flag };
  let report;
  let isJson = false;
  try {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    if (values.help) {
      process.stdout.write(`${USAGE}\n`);
      return 0;
    }
    isJson = values.json;
    const [file, ...others] = positionals;
    if (file === undefined || others.length > 0 || (values.keys === undefined) !== values['without-keys']) {
      throw new Misused('Give one file, and --keys or --without-keys');
    }
    const keys = values.keys === undefined ? null : readKeys(values.keys);
    const checkpoints = values.checkpoints === undefined ? undefined : readFileSync(values.checkpoints, 'utf8');
    report = verifyText(readExport(file), keys, checkpoints);
  } catch (error) {
    report = { verdict: 'not_verified', detail: error.message, ...(error instanceof Misused && { usage: USAGE }) };
  }
  process.stdout.write(`${isJson ? JSON.stringify(report, null, 2) : describe(report)}\n`);
  return { intact: 0, broken: 1, not_verified: 2 }[report.verdict];
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  process.exitCode = main(process.argv.slice(2));
}
