import { v7 as uuidv7 } from 'uuid';
import type { Caller } from './caller.js';

/** Users, projects and automations of the load, created through the API in the copy's demo team. */
export interface World {
  admin: string;
  manager: string;
  member: string;
  /** Token of the member's outside agent. */
  agent: string;
  teamId: string;
  /** Project whose new tasks trigger the automations. */
  watched: string;
  /** Project without automations, for updates and deletions. */
  quiet: string;
  /** Fields for numbers on tasks. */
  fields: string[];
  /** Teams of the imports of many lines. The admin is their only member. */
  importTeams: ImportTeam[];
  /** Origin of the receiver of webhooks and requests; empty until it listens. */
  receiver: string;
  /** Token of the member's agent whose calls pass the gateway. */
  asker: string;
  /** Path of the server behind the gateway; empty until it is registered. */
  gateway: string;
  /** Repository bound to the watched project with issue sync. */
  repo: string;
}

export interface ImportTeam {
  team_id: string;
  /** Tasks that its imports meet again. */
  base: string[];
}

/** Value of the team's secret that the receiver expects and that nothing may keep. */
export const SECRET = 'canary-of-secrets-91d0';
export const SECRET_NAME = 'CHAOS_KEY';

/** Marks tasks whose triggered run fails. */
export const FAILING = 'doomed';

const TASK = '{{event.task.task_id}}';
const say = (words: string): object => ({
  type: 'add_comment',
  params: { task_id: TASK, content: `${words} {{event.task.title}}` },
});

/** Automations triggered by each new task of the watched project. */
const AUTOMATIONS = [
  { name: 'Greet', actions: [say('hello')] },
  { name: 'Ask', actions: [say('before'), { type: 'require_approval', params: { role: 'manager' } }, say('after'), say('last')] },
  {
    name: 'Fail',
    condition: `event.task.title.contains("${FAILING}")`,
    actions: [{ type: 'add_comment', params: { task_id: 'not-there', content: 'lost' } }],
  },
];

/** Comments that a new task with this title must get without a decision. */
export const commentsFor = (title: string): string[] => [`hello ${title}`, `before ${title}`];

/** Sends a request and returns the body of its response. @throws Error for any response but the expected success */
type Call = (method: string, path: string, token?: string, body?: unknown) => Promise<Record<string, unknown>>;

const IMPORT_TEAMS = 3;
/** Tasks of such a team. */
const BASE = 40;

async function buildImportTeam(call: Call, admin: string): Promise<ImportTeam> {
  const team_id = (await call('POST', '/api/teams', admin, { name: 'Chaos, imports' }))['team_id'] as string;
  const body = { name: 'Chaos, base', team_id };
  const { project_id } = (await call('POST', '/api/projects', admin, body))['data'] as { project_id: string };
  const base = Array.from({ length: BASE }, () => uuidv7());
  const tasks = base.map((task_id) => ({ task_id, title: 'base', project_id }));
  await call('POST', '/api/tasks/bulk?atomic=true', admin, tasks);
  return { team_id, base };
}

/** @throws Error for any response but the expected success */
export async function buildWorld(caller: Caller): Promise<World> {
  const call: Call = async (method, path, token, body) => {
    const answer = await caller.untilKnown({ method, path, body, ...(token ? { token } : {}) });
    if (!answer || answer.status >= 300)
      throw new Error(`${method} ${path} answered ${answer?.status}: ${JSON.stringify(answer?.body)}`);
    return answer.body as Record<string, unknown>;
  };
  const logIn = async (name: string) =>
    (await call('POST', '/api/auth/login', undefined, { email: `${name}@demo.test`, password: 'demo-password' }))[
      'token'
    ] as string;
  const [admin, manager, member] = await Promise.all([logIn('ada'), logIn('max'), logIn('uma')]);
  const me = (await call('GET', '/api/auth/me', admin)) as { teams: { team_id: string }[] };
  const teamId = me.teams[0]?.team_id as string;
  const project = async (name: string) => {
    const made = (await call('POST', '/api/projects', admin, { name, team_id: teamId })) as { data: { project_id: string } };
    return made.data.project_id;
  };
  const watched = await project('Chaos, watched');
  const quiet = await project('Chaos, quiet');
  const fields: string[] = [];
  for (const name of ['Weight', 'Cost']) {
    const field = { name: `Chaos ${name}`, team_id: teamId, field_type: 'number', entity_type: 'task' };
    fields.push((await call('POST', '/api/custom-fields', admin, field))['field_id'] as string);
  }
  const repo = `chaos/${uuidv7()}`;
  await call('POST', '/api/forge/repositories', admin, { repo, team_id: teamId, project_id: watched, sync_issues: true });
  for (const automation of AUTOMATIONS)
    await call('POST', '/api/automations', manager, {
      ...automation,
      trigger_type: 'task.created',
      team_id: teamId,
      project_id: watched,
    });
  const token = async (name: string, scopes: string[]) =>
    (await call('POST', '/api/auth/tokens', member, { name, scopes, mcp_only: true }))['token'] as string;
  const agent = await token('Chaos', ['tasks:read', 'projects:read', 'graph:read', 'ai:chat']);
  const asker = await token('Chaos, gateway', ['requests:create', 'requests:read']);
  await call('PUT', `/api/ai-workspace/settings?team_id=${teamId}`, admin, { ci_triage: { enabled: true } });
  const vaulted = { team_id: teamId, name: SECRET_NAME, value: SECRET, allowed_hosts: ['127.0.0.1'] };
  await call('POST', '/api/automations/secrets', admin, vaulted);
  const importTeams: ImportTeam[] = [];
  while (importTeams.length < IMPORT_TEAMS) importTeams.push(await buildImportTeam(call, admin));
  const places = { receiver: '', gateway: '' };
  return { admin, manager, member, agent, asker, teamId, watched, quiet, fields, ...places, repo, importTeams };
}
