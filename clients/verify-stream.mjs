#!/usr/bin/env node
/**
 * Verifies audit entries that a log sink has received, without the service and without dependencies. Reads lines of JSON: bodies of log records,
 * or whole requests of OTLP, as the file exporter of the OpenTelemetry Collector writes them. `--help` prints the usage.
 */
import { createReadStream, realpathSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { hashEntry } from './verify-export.mjs';

const USAGE = `verify-stream FILE... [--json]

  FILE     lines that the sink has received, in any order; an entry may come twice; - is standard input
  --json   prints the report as JSON

For each chain (a team, or 00000000-… for the installation) it checks that every entry from the first to the newest head is there, that each has
its hash and follows the one before it, and that no two differ.

Exit status: 0 complete, 1 not, 2 not verified`;

const NO_HASH = '0'.repeat(64);
const HASH = /^[0-9a-f]{64}$/;
/** Findings that are kept; more are only counted. */
const MAX_FINDINGS = 100;

/** Returns the bodies in a line: one, or those of a whole request. */
function bodiesOf(line) {
  const value = JSON.parse(line);
  if (!Array.isArray(value.resourceLogs)) return [value];
  const records = value.resourceLogs.flatMap(({ scopeLogs = [] }) => scopeLogs.flatMap(({ logRecords = [] }) => logRecords));
  return records.map(({ body }) => JSON.parse(body.stringValue));
}

/** Collects entries and finds what is missing or differs. */
export class StreamCheck {
  chains = new Map();
  findings = [];
  found = 0;
  entries = 0;
  repeated = 0;
  /** Entries that had been archived before the stream began: only their seals came. */
  sealOnly = 0;

  /** Adds a body. */
  add(body) {
    const { chain, sequence, prev_hash, entry_hash, head_sequence, head_hash, audit_id } = body;
    const isPlaced =
      typeof chain === 'string' && Number.isSafeInteger(sequence) && sequence > 0 && Number.isSafeInteger(head_sequence);
    if (!isPlaced || ![prev_hash, entry_hash, head_hash].every((hash) => HASH.test(hash)))
      return this.say(body, 'is no audit entry');
    const known = this.chains.get(chain) ?? { entries: new Map(), head: { sequence: 0, hash: NO_HASH }, heads: new Map() };
    this.chains.set(chain, known);
    if (head_sequence > known.head.sequence) known.head = { sequence: head_sequence, hash: head_hash };
    known.heads.set(head_sequence, head_hash);
    const before = known.entries.get(sequence);
    if (before) {
      this.repeated += 1;
      if (before.entry_hash !== entry_hash || before.prev_hash !== prev_hash)
        this.say(body, 'differs from another one with its sequence');
      return;
    }
    known.entries.set(sequence, { prev_hash, entry_hash });
    this.entries += 1;
    if (audit_id === undefined) this.sealOnly += 1;
    else if (hashEntry({ ...body, details_text: body.details }) !== entry_hash) this.say(body, 'does not have its hash');
  }

  /** Returns the report: `{verdict: 'complete'|'incomplete', chains, entries, repeated, seal_only, findings, found}`. */
  end() {
    for (const [chain, { entries, head, heads }] of this.chains) {
      let before = { sequence: 0, entry_hash: NO_HASH };
      // By what came, not by number: a record may name any head.
      for (const [sequence, entry] of [...entries].sort(([one], [other]) => one - other)) {
        this.checkGap(chain, before.sequence, sequence);
        const follows = before.sequence !== sequence - 1 || before.entry_hash === entry.prev_hash;
        if (!follows) this.say({ chain, sequence }, 'does not follow the one before it');
        const named = heads.get(sequence);
        if (named !== undefined && named !== entry.entry_hash)
          this.say({ chain, sequence }, 'is not the head that was sent with others');
        if (sequence > head.sequence) this.say({ chain, sequence }, 'lies behind the head of its chain');
        before = { sequence, entry_hash: entry.entry_hash };
      }
      this.checkGap(chain, before.sequence, head.sequence + 1);
    }
    return {
      verdict: this.found === 0 ? 'complete' : 'incomplete',
      chains: this.chains.size,
      entries: this.entries,
      repeated: this.repeated,
      seal_only: this.sealOnly,
      findings: this.findings,
      found: this.found,
    };
  }

  /** Says what is missing between two entries. */
  checkGap(chain, before, after) {
    const missing = after - before - 1;
    if (missing === 1) this.say({ chain, sequence: before + 1 }, 'is missing');
    if (missing > 1) this.say({ chain, sequence: before + 1 }, `and the ${missing - 1} after it are missing`);
  }

  say({ chain, sequence }, what) {
    this.found += 1;
    if (this.findings.length < MAX_FINDINGS)
      this.findings.push({ chain, sequence, detail: `Entry ${sequence} of chain ${chain} ${what}` });
  }
}

/** Returns a text without what would change how a terminal shows it. */
const printable = (text) => String(text).replace(/\p{C}/gu, '�');

function describe({ verdict, chains, entries, repeated, seal_only, findings, found }) {
  const lines = findings.map(({ detail }) => `  ${printable(detail)}`);
  if (found > findings.length) lines.push(`  and ${found - findings.length} more`);
  const archived = seal_only > 0 ? `; ${seal_only} of them archived before, so only their seals came` : '';
  return [
    `${verdict === 'complete' ? 'complete' : 'NOT COMPLETE'}: ${entries} entries of ${chains} chains, ${repeated} repeats${archived}`,
    ...lines,
  ].join('\n');
}

async function main(args) {
  const { values, positionals } = parseArgs({
    args,
    options: { json: { type: 'boolean', default: false }, help: { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  if (values.help || positionals.length === 0) {
    process.stdout.write(`${USAGE}\n`);
    return values.help ? 0 : 2;
  }
  const check = new StreamCheck();
  for (const file of positionals) {
    const input = file === '-' ? process.stdin : createReadStream(file);
    let number = 0;
    // "line" events of a file that cannot be read never come: its error does.
    for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      number += 1;
      if (line.trim() === '') continue;
      try {
        for (const body of bodiesOf(line)) check.add(body);
      } catch {
        throw new Error(`line ${number} of ${file} is neither an audit entry nor a request of OTLP`);
      }
    }
  }
  if (check.entries === 0 && check.found === 0) throw new Error('no audit entry was read');
  const report = check.end();
  process.stdout.write(`${values.json ? JSON.stringify(report, null, 2) : describe(report)}\n`);
  return report.verdict === 'complete' ? 0 : 1;
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  process.exitCode = await main(process.argv.slice(2)).catch((error) => {
    process.stdout.write(`NOT VERIFIED: ${printable(error.message)}\n`);
    return 2;
  });
}
