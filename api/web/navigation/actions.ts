import type { User } from '../../identity/auth/schema.js';
import { type Ability, isAllowed, type Seat } from '../../platform/access/access.js';
import type { IconName } from '../icons.js';

/** Something to do or a page of a team, with the page where one does it. */
export interface Action {
  label: string;
  path: string;
  icon: IconName;
  /** Other words that find it. */
  words?: string;
}

/** What everyone may do. */
const ANYWHERE: readonly Action[] = [
  { label: 'New team', path: '/app/teams#h-new', icon: 'plus', words: 'create add' },
  { label: 'New automation', path: '/app/automations/new', icon: 'plus', words: 'create add template trigger' },
  { label: 'New view', path: '/app/views/new', icon: 'plus', words: 'create add save filter' },
  { label: 'New access token', path: '/app/account/tokens#h-new', icon: 'plus', words: 'create add api mcp' },
  { label: 'First steps', path: '/app?steps=all', icon: 'check', words: 'tour example help begin' },
  { label: 'Failed runs', path: '/app/runs?show=failed', icon: 'bolt', words: 'dead letter errors' },
  {
    label: 'New automation that posts to Slack',
    path: '/app/automations/new?template=post-to-slack',
    icon: 'plus',
    words: 'create add chat message channel integration',
  },
  {
    label: 'New automation with an HTTP request',
    path: '/app/automations/new?template=deploy-release',
    icon: 'plus',
    words: 'create add teams discord mattermost chat webhook integration',
  },
  { label: 'Theme', path: '/app/account#f-theme', icon: 'person', words: 'colors colours dark light mode appearance' },
  { label: 'Timeline of projects', path: '/app/projects?show=timeline', icon: 'board', words: 'roadmap gantt' },
  { label: 'Decided approvals', path: '/app/approvals/decided', icon: 'approve', words: 'approved rejected history' },
];

interface TeamAction {
  label: (team: string) => string;
  path: (teamId: string) => string;
  icon: IconName;
  ability: Ability;
  words?: string;
}

/** What one may do in a team, with the ability that it takes. */
export const TEAM_ACTIONS: readonly TeamAction[] = [
  { label: (team) => `Open ${team}`, path: (id) => `/app/teams/${id}`, icon: 'team', ability: 'team.read', words: 'members' },
  {
    label: (team) => `New project in ${team}`,
    path: (id) => `/app/projects?team=${id}#f-name`,
    icon: 'plus',
    ability: 'project.write',
    words: 'create add',
  },
  {
    label: (team) => `New note in ${team}`,
    path: (id) => `/app/notes?team=${id}#h-new`,
    icon: 'plus',
    ability: 'item.write',
    words: 'create add write',
  },
  {
    label: (team) => `New cycle in ${team}`,
    path: (id) => `/app/cycles?team=${id}#f-name`,
    icon: 'plus',
    ability: 'cycle.write',
    words: 'create add plan sprint',
  },
  {
    label: (team) => `Invite to ${team}`,
    path: (id) => `/app/teams/${id}#h-invite`,
    icon: 'plus',
    ability: 'member.manage',
    words: 'add member email',
  },
  {
    label: (team) => `Import into ${team}`,
    path: (id) => `/app/bulk?team=${id}`,
    icon: 'out',
    ability: 'bulk.read',
    words: 'export jira linear github csv',
  },
  {
    label: (team) => `Custom fields of ${team}`,
    path: (id) => `/app/teams/${id}/fields`,
    icon: 'tools',
    ability: 'custom_field.list',
    words: 'settings',
  },
  {
    label: (team) => `Stages of ${team}`,
    path: (id) => `/app/teams/${id}/stages`,
    icon: 'board',
    ability: 'stage.list',
    words: 'settings status workflow columns board',
  },
  {
    label: (team) => `Secrets of ${team}`,
    path: (id) => `/app/teams/${id}/secrets`,
    icon: 'key',
    ability: 'secret.list',
    words: 'settings',
  },
  {
    label: (team) => `Webhooks of ${team}`,
    path: (id) => `/app/teams/${id}/webhooks`,
    icon: 'out',
    ability: 'webhook.read',
    words: 'settings endpoint',
  },
  {
    label: (team) => `Code host of ${team}`,
    path: (id) => `/app/teams/${id}/code-host`,
    icon: 'bolt',
    ability: 'forge.read',
    words: 'settings github gitlab gitea forgejo repository bind pull requests commits',
  },
  {
    label: (team) => `Agent of ${team}`,
    path: (id) => `/app/teams/${id}/agent`,
    icon: 'talk',
    ability: 'agent_settings.read',
    words: 'settings triage',
  },
];

/** Returns the actions that a user may choose: theirs, then those of each team, the nearest kind first. */
export function actionsOf({ teams }: User): Action[] {
  const inTeams = TEAM_ACTIONS.flatMap(({ label, path, ability, ...action }) =>
    teams
      .filter(({ role }) => isAllowed(ability, role as Seat))
      .map(({ team_id, name }) => ({ ...action, label: label(name), path: path(team_id) })),
  );
  return [...ANYWHERE, ...inTeams];
}
