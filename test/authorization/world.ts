import { randomBytes } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { issueToken } from '../../api/identity/auth/authenticate.js';
import type { Seat } from '../../api/platform/access/access.js';
import { SCOPES, type Scope } from '../../api/platform/access/scopes.js';
import { buildPerson, buildProject, buildTeam, buildToken, type Person, type TestTeam } from '../factories/people.js';
import { startApp, type TestApp } from '../support/app.js';

/** Shared with the forge in this suite's installation. */
export const FORGE_SECRET = 'matrix-forge-secret';

/** A team with one person a seat, a second member, and a live project. */
export interface Tenant extends TestTeam {
  colleague: Person;
  project_id: string;
}

/** Someone who calls: what is sent as credential, and what the rules may know of the person behind it. */
export interface Actor {
  /** Administers a team of their own, and is a stranger here. */
  adminElsewhere?: true;
  name: string;
  /** No credential that anybody accepts: 401 everywhere. */
  refused: boolean;
  credential: (needed: Scope | undefined) => string | undefined;
  user_id: string | null;
  /** In the own team; null for a stranger. */
  seat: Seat | null;
  /** Administers the installation, signed in as themselves. */
  instanceAdmin: boolean;
  /** An instance admin who acts as this person. */
  impersonated?: true;
  /** A token that every route asks for its scope. */
  strict?: true;
  /** A token of an outside agent. */
  mcpOnly?: true;
  /** How a token stands to the scope a route names; null for no token at all. */
  scope: 'none' | 'exact' | 'all' | null;
}

export interface World {
  app: TestApp;
  own: Tenant;
  foreign: Tenant;
  actors: Actor[];
  /** Tables written since the last call: a row here for every row inserted, changed or deleted. */
  writes: () => Promise<string[]>;
}

async function buildTenant(app: TestApp): Promise<Tenant> {
  const team = await buildTeam(app);
  const colleague = await buildPerson(app);
  await app.services.db('memberships').insert({ team_id: team.team_id, user_id: colleague.user_id, role: 'member' });
  return { ...team, colleague, ...(await buildProject(app, team)) };
}

/** Written beside a request and not by it: counters, signs of life, the seals of what was written before. */
const BESIDE = [
  'rate_limits',
  'heartbeats',
  'search_documents',
  'search_team_words',
  'audit_seals',
  'audit_heads',
  'audit_kinds',
  'audit_counted',
  'audit_kind_counts',
  'audit_user_counts',
];
/**
 * What of a table is watched, where that is not every change: the note when a token was last used is written beside the request, a search
 * indexes what was marked before, and a read of the audit log seals it.
 */
const WATCHED: Record<string, string> = {
  personal_access_tokens: 'insert or delete or update of revoked_at, scopes, expires_at',
  audit_pending: 'insert',
  search_dirty: 'insert',
  sessions: 'insert or delete or update of ended_at, expires_at, user_id',
};

/** Has the database itself note every row that is written, so that "writes nothing" means nothing at all. */
async function watchWrites({ services: { db } }: TestApp): Promise<World['writes']> {
  await db.raw(/* sql */ `
    create schema watch;
    create table watch.writes (at_table text not null);
    create function watch.note() returns trigger language plpgsql as $$
    begin insert into watch.writes values (tg_table_name); return null; end $$`);
  // A trigger of a partitioned table is one of its partitions too.
  const tables = await db('pg_class')
    .whereRaw("relkind in ('r', 'p') and not relispartition and relnamespace = 'public'::regnamespace")
    .whereNotIn('relname', BESIDE)
    .pluck('relname');
  for (const table of tables) {
    await db.raw(
      `create trigger watch_writes after ${WATCHED[table] ?? 'insert or update or delete'} on ${table} for each row execute function watch.note()`,
    );
  }
  return async () => {
    const { rows } = await db.raw<{ rows: { at_table: string }[] }>(
      'with gone as (delete from watch.writes returning at_table) select distinct at_table from gone order by 1',
    );
    return rows.map((row) => row.at_table);
  };
}

const withSession = (name: string, person: Person, seat: Seat | null, refused = false): Actor => ({
  name,
  refused,
  credential: () => person.token,
  user_id: person.user_id,
  seat,
  instanceAdmin: false,
  scope: null,
});

/** Tokens of a user: one per scope, to have or to lack the one that a route requires. */
async function buildTokens(app: TestApp, owner: Person, fields: { strict?: true } = {}): Promise<Actor[]> {
  const scopes = Object.keys(SCOPES) as Scope[];
  const build = (held: Scope[]) => buildToken(app, owner, held, fields);
  const held = new Map(await Promise.all(scopes.map(async (scope) => [scope, await build([scope])] as const)));
  const rest = await build(scopes.filter((scope) => scope !== 'admin:*'));
  const lacking = new Map(
    await Promise.all(
      scopes.map(async (scope) => {
        const others = scopes.filter((other) => other !== scope && other !== 'admin:*');
        return [scope, await build(others)] as const;
      }),
    ),
  );
  const token = (name: string, scope: Actor['scope'], credential: Actor['credential']): Actor => ({
    name: fields.strict ? `strict ${name}` : name,
    refused: false,
    credential,
    user_id: owner.user_id,
    seat: 'member',
    instanceAdmin: false,
    scope,
    ...fields,
  });
  return [
    token('token with every scope but the needed one', 'none', (needed) => (needed ? lacking.get(needed) : rest)),
    token('token with the needed scope only', 'exact', (needed) => held.get(needed ?? 'ai:chat')),
    token('token with admin:*', 'all', () => held.get('admin:*')),
  ];
}

/** The installation's admin acting as the own team's member. */
async function buildImpersonator(app: TestApp, { member }: Tenant, admin: Person): Promise<Actor> {
  const session_id = uuidv7();
  await app.services.db('sessions').insert({
    session_id,
    user_id: member.user_id,
    impersonator_id: admin.user_id,
    expires_at: app.services.db.raw("now() + interval '1 day'"),
  });
  const { token } = await issueToken(app.services, member.user_id, session_id, { impersonatorId: admin.user_id });
  return { ...withSession('instance admin acting as the member', { ...member, token }, 'member'), impersonated: true };
}

async function buildActors(app: TestApp, own: Tenant): Promise<Actor[]> {
  const { db } = app.services;
  const neighbour = await buildTeam(app);
  const suspended = await buildPerson(app, { status: 'suspended' });
  await db('memberships').insert({ team_id: own.team_id, user_id: suspended.user_id, role: 'admin' });
  const instanceAdmin = await buildPerson(app, { role: 'admin' });
  // A user has at most 50 tokens, which two for each scope and each kind would exceed.
  const second = await buildPerson(app);
  await db('memberships').insert({ team_id: own.team_id, user_id: second.user_id, role: 'member' });
  const suspendedToken = await buildToken(app, suspended, ['admin:*']);
  const agentToken = await buildToken(app, own.member, ['admin:*'], { mcp_only: true });
  const stranger = { refused: true, user_id: null, seat: null, instanceAdmin: false, scope: null };
  return [
    { ...stranger, name: 'nobody', credential: () => undefined },
    { ...stranger, name: 'bad token', credential: () => `eyJhbGciOiJub25lIn0.${randomBytes(40).toString('base64url')}.` },
    withSession('suspended admin', suspended, 'admin', true),
    { ...withSession('token of a suspended admin', suspended, 'admin', true), credential: () => suspendedToken, scope: 'all' },
    { ...withSession('admin of another tenant', neighbour.admin, null), adminElsewhere: true },
    { ...withSession('instance admin without a seat', instanceAdmin, null), instanceAdmin: true },
    await buildImpersonator(app, own, instanceAdmin),
    ...(['guest', 'member', 'manager', 'admin'] as const).map((seat) => withSession(seat, own[seat], seat)),
    ...(await buildTokens(app, own.member)),
    ...(await buildTokens(app, second, { strict: true })),
    {
      ...withSession('token of an outside agent', own.member, 'member'),
      credential: () => agentToken,
      scope: 'all',
      mcpOnly: true,
    },
  ];
}

/** Everyone calls at once, about one team: on a busy machine that takes longer than a request may wait in production. */
const PATIENCE_MS = 30_000;

/** Two tenants and everyone who may call, over a database that notes its writes. */
export async function buildWorld(settings: Record<string, string> = {}): Promise<World> {
  const app = await startApp(
    {
      FORGE_WEBHOOK_SECRET: FORGE_SECRET,
      FORGE_CLIENT_ID: 'client',
      FORGE_CLIENT_SECRET: 'secret',
      ...settings,
    },
    PATIENCE_MS,
  );
  const [own, foreign] = await Promise.all([buildTenant(app), buildTenant(app)]);
  const actors = await buildActors(app, own);
  return { app, own, foreign, actors, writes: await watchWrites(app) };
}

/** An id in our form that no row has. */
export const unknownId = (): string => uuidv7();
