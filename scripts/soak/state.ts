import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { emptyLedger, type Ledger } from '../chaos/ledger.js';
import type { Verdict } from '../chaos/invariants.js';
import type { World } from '../chaos/world.js';
import type { Sample } from './sample.js';

interface Kill {
  minute: number;
  part: string;
}

/** One uninterrupted stretch. */
export interface Piece {
  /** ISO time of its start. */
  began: string;
  /** Minutes under load so far. */
  minutes: number;
  kills: Kill[];
  samples: Sample[];
  /** Requests of the even load, and those without a 2xx by kind. */
  sent: number;
  failed: Record<string, number>;
  /** Empty until it has ended in order: the tool may have been killed. */
  verdicts: Verdict[];
}

/** All that a soak knows between its pieces. */
export interface State {
  kind: 'embedded' | 'containers';
  /** Directory of the copy, of kind `embedded`. */
  dir: string | null;
  world: World | null;
  ledger: Ledger;
  /** Titles of the even load whose creation was acknowledged. */
  titles: string[];
  pieces: Piece[];
}

export const emptyState = (kind: State['kind']): State => ({
  kind,
  dir: null,
  world: null,
  ledger: emptyLedger(),
  titles: [],
  pieces: [],
});

/** Reads the state. @throws Error if there is none */
export function readState(file: string): State {
  if (!existsSync(file)) throw new Error(`${file} does not exist: there is nothing to continue`);
  return JSON.parse(readFileSync(file, 'utf8')) as State;
}

/** Writes the state atomically: a kill of the tool leaves the previous one. */
export function writeState(file: string, state: State): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(`${file}.partial`, JSON.stringify(state), { mode: 0o600 });
  renameSync(`${file}.partial`, file);
}

/** Starts the next piece. */
export function beginPiece(state: State): Piece {
  const piece: Piece = { began: new Date().toISOString(), minutes: 0, kills: [], samples: [], sent: 0, failed: {}, verdicts: [] };
  state.pieces.push(piece);
  return piece;
}

/** The longest uninterrupted piece. @throws Error without one */
export function longestPiece({ pieces }: Pick<State, 'pieces'>): Piece {
  const [first, ...others] = pieces;
  if (!first) throw new Error('No piece has run');
  return others.reduce((best, piece) => (piece.minutes > best.minutes ? piece : best), first);
}
