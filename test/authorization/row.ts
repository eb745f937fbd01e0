import type { Seat } from '../../api/platform/access/access.js';
import type { Subject, SubjectType } from './subjects.js';

/**
 * How the id stands to the caller's team: its own, another tenant's, in the trash, well-formed but nobody's, malformed, or the own
 * one in another spelling that PostgreSQL would take for the same.
 */
export type Kind = 'own' | 'foreign' | 'trashed' | 'unknown' | 'garbage' | 'respelt';

/** What a call sends. */
export interface Sent {
  params?: Record<string, string>;
  query?: Record<string, string>;
  body?: unknown;
  raw?: string;
  headers?: Record<string, string>;
}

/** One way of calling one route. Whatever it does not say follows from api/platform/access/access.ts and the rules of the house (expected.ts). */
export interface Row {
  /** Method and path as the route declares them. */
  route: string;
  /** Which part of the request names the subject, where a route has several. */
  by?: string;
  subject: SubjectType;
  /** The field of the subject that is made foreign, unknown, garbage …; `id` unless said otherwise. */
  names?: Exclude<keyof Subject, 'credential' | 'session_id' | 'hash'>;
  kinds: Kind[];
  send: (subject: Subject) => Sent;
  /** Creator of the subject: the caller (strangers and guests too, from a former role), or a second member. */
  author?: 'caller' | 'colleague';
  /** Another seat than the table's, where its words say more than its column. `nobody`: not even an admin. `none`: any signed-in person. */
  lowest?: Seat | 'none' | 'nobody';
  /** The installation's admin may too, without a seat and for any team, but never by a token. */
  instanceAdmin?: true;
  /** The same status for everybody who is signed in, by kind. */
  outcome?: Partial<Record<Kind, number>>;
  /** Status where it is not the declared one of success. */
  success?: number;
  /** The subject is a second id of a resource of the caller's own team: status by kind, once the caller may at all. */
  reference?: Partial<Record<Kind, number>>;
  /** Never refused for its team: 200 with the subject in it for its team's seats, and without it for everybody else. */
  list?: true;
  /** `admin:*` does not stand for the scope: a token needs it by name. */
  namedScope?: true;
  /** Impersonators are skipped, with the place of a separate test: the call would end the session that the other rows need. */
  sparesImpersonator?: string;
  /** Status for the admin of another tenant, of whose own team the route then speaks; never with anything of the subject in it. */
  elsewhere?: number;
  /** Asks for no credential, so every caller gets the same. */
  public?: Partial<Record<Kind, number>>;
  /** A success uses its subject up, so that every call gets one of its own. */
  once?: true;
  /** A refusal or a read that is meant to leave something behind, and what. */
  leaves?: string;
  /** Why it departs from the rules. */
  why?: string;
}

/** Kinds of an id that has no trash, and of one that has. */
export const LIVE: Kind[] = ['own', 'foreign', 'unknown', 'garbage', 'respelt'];
export const TRASHABLE: Kind[] = ['own', 'foreign', 'trashed', 'unknown', 'garbage', 'respelt'];
