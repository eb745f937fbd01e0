import type { Seat } from '../../platform/access/access.js';
import { rightsStatement } from './changes.sql.js';
import type { EventStream } from './event-stream.js';

/** Rights of streams at one moment. */
export interface Rights {
  isLive: (stream: EventStream) => boolean;
  /** Role of the stream's user in a team; null for none. */
  roleIn: (stream: EventStream, teamId: string) => Seat | null;
}

const idsOf = (streams: Iterable<EventStream>, kind: EventStream['credential']['kind']): string[] => [
  ...new Set([...streams].flatMap(({ credential }) => (credential.kind === kind ? [credential.id] : []))),
];

interface RightsRow extends Record<string, unknown> {
  credentials: string[];
  seats: [string, Seat][];
}
/** Runs `rightsStatement` on the connection of the caller. */
type Ask = (statement: typeof rightsStatement, values: unknown[]) => Promise<RightsRow[]>;

/** Reads which credentials of these streams are still valid, and the roles of their users in some teams. `idleSeconds`: after which a session ends. */
export async function readRights(
  ask: Ask,
  streams: ReadonlySet<EventStream>,
  teamIds: readonly string[],
  idleSeconds: number,
): Promise<Rights> {
  const users = [...new Set([...streams].map(({ follows }) => follows.userId))];
  const values = [idsOf(streams, 'session'), idsOf(streams, 'token'), users, teamIds, idleSeconds];
  const rows = await ask(rightsStatement, values);
  const live = new Set(rows[0]?.credentials);
  const seats = new Map(rows[0]?.seats);
  return {
    isLive: ({ credential }) => live.has(credential.id),
    roleIn: ({ follows }, teamId) => seats.get(`${follows.userId} ${teamId}`) ?? null,
  };
}
