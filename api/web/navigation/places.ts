import type { User } from '../../identity/auth/schema.js';
import { isAllowed, type Ability, type Seat } from '../../platform/access/access.js';
import type { IconName } from '../icons.js';

/** A page that the navigation leads to. */
export interface Place {
  path: `/app${string}`;
  label: string;
  icon: IconName;
  /** Keys that open it, one after the other. */
  keys?: string;
  /** Other paths that belong to it, each with the paths under it. */
  holds?: readonly string[];
  /** Count that stands beside it, and its word for screen readers. */
  count?: 'waiting' | 'unread';
  /** Other words that find it. */
  words?: string;
  /** Shown to those who have the ability in one of their teams, or to everyone. */
  ability?: Ability;
  /** At a desk it stands beside the five entries, where there is room for it. */
  isNear?: true;
  /** Shown to administrators of the installation, not while they impersonate. */
  forAdministrators?: true;
}

/** The five entries of the navigation, in their order. */
const MAIN: readonly Place[] = [
  { path: '/app', label: 'Home', icon: 'home', keys: 'g h', words: 'start overview first steps' },
  {
    path: '/app/approvals',
    label: 'Approvals',
    icon: 'approve',
    keys: 'g a',
    count: 'waiting',
    words: 'gates plans requests waiting',
  },
  { path: '/app/projects', label: 'Projects', icon: 'check', keys: 'g p', holds: ['/app/items'], words: 'tasks work board' },
  { path: '/app/views', label: 'Views', icon: 'board', keys: 'g v', words: 'saved filters board list' },
  { path: '/app/cycles', label: 'Cycles', icon: 'cycle', keys: 'g c', words: 'sprints burn-down' },
];

const INBOX: Place = {
  path: '/app/notifications',
  label: 'Inbox',
  icon: 'bell',
  keys: 'g i',
  count: 'unread',
  words: 'notifications messages',
};

/** The form of a new task, in the project that one chooses. */
const NEW_TASK: Place = {
  path: '/app/tasks/new',
  label: 'New task',
  icon: 'plus',
  keys: 'c',
  ability: 'task.write',
  words: 'create add',
};

/** What the menu beside the entries holds. */
const MORE: readonly Place[] = [
  {
    path: '/app/teams',
    label: 'Teams',
    icon: 'team',
    keys: 'g t',
    holds: ['/app/invitations'],
    words: 'members invite settings',
  },
  {
    path: '/app/automations',
    label: 'Automations',
    icon: 'tools',
    keys: 'g o',
    isNear: true,
    words: 'trigger condition gate rules templates',
  },
  { path: '/app/runs', label: 'Runs', icon: 'bolt', keys: 'g r', isNear: true, words: 'automations dead letter failed history' },
  { path: '/app/agent', label: 'Agent', icon: 'talk', keys: 'g m', isNear: true, words: 'chat sessions assistant' },
  { path: '/app/runners', label: 'Runners', icon: 'device', words: 'machines jobs commands' },
  { path: '/app/notes', label: 'Notes', icon: 'talk', keys: 'g n', words: 'minutes texts ideas markdown' },
  { path: '/app/cycle-time', label: 'Cycle time', icon: 'clock', words: 'chart report lead' },
  {
    path: '/app/bulk',
    label: 'Export and import',
    icon: 'out',
    ability: 'bulk.read',
    words: 'jira linear github csv data backup',
  },
  { path: '/app/trash', label: 'Trash', icon: 'cross', words: 'deleted restore bin undo' },
  { path: '/app/audit', label: 'Audit log', icon: 'shield', ability: 'audit.read', words: 'history who changed' },
];

/** What the menu of the account holds. */
const ACCOUNT: readonly Place[] = [
  { path: '/app/account', label: 'Account', icon: 'person', words: 'profile name time zone language password' },
  { path: '/app/account/security', label: 'Security', icon: 'shield', words: 'password two-factor codes' },
  { path: '/app/account/tokens', label: 'Access tokens', icon: 'key', words: 'api mcp token' },
  { path: '/app/keys', label: 'Keys', icon: 'keyboard', keys: '?', words: 'keyboard shortcuts help' },
  { path: '/app/admin', label: 'Administration', icon: 'tools', forAdministrators: true, words: 'users installation suspend' },
];

/** Every place of the navigation. */
export const PLACES: readonly Place[] = [...MAIN, INBOX, NEW_TASK, ...MORE, ...ACCOUNT];

function isShown({ ability, forAdministrators }: Place, { role, impersonated_by, teams }: User): boolean {
  if (forAdministrators) return role === 'admin' && !impersonated_by;
  return ability === undefined || teams.some((team) => isAllowed(ability, team.role as Seat));
}

/** Returns the places that a user sees, in the order of the navigation. */
export const placesOf = (me: User): Place[] => PLACES.filter((place) => isShown(place, me));

/** Returns the length of the longest path of a place that `path` is at or below; 0 for none. Nothing is below the home page. */
const overlap = ({ path: own, holds = [] }: Place, path: string): number =>
  Math.max(
    ...[own, ...holds].map((base) => (path === base || (base !== '/app' && path.startsWith(`${base}/`)) ? base.length : 0)),
  );

/** A place as a page shows it. */
interface Link extends Place {
  /** `page`: it is this page; `true`: this page belongs to it. As `aria-current` takes it. */
  current: 'page' | 'true' | null;
}

export interface Navigation {
  main: Link[];
  inbox: Link;
  /** None for those who may create no task. */
  create: Link | undefined;
  more: Link[];
  account: Link[];
}

/** Pages of one project; others begin with a word. */
const OF_PROJECT = /^\/app\/projects\/([\da-f-]{36})(?=\/|$)/;

/** The link to a place from `path`: the agent is asked about the project that one comes from. */
function linkPath({ path: own }: Place, path: string): Place['path'] {
  const [, project] = (own === '/app/agent' && OF_PROJECT.exec(path)) || [];
  return project === undefined ? own : `${own}?project=${project}`;
}

/** Returns the navigation of the page at `path` for a user. One place at most is current. */
export function navigationOf(me: User, path: string): Navigation {
  const [nearest] = PLACES.filter((place) => overlap(place, path) > 0).toSorted((a, b) => overlap(b, path) - overlap(a, path));
  const link = (place: Place): Link => {
    const current = place === nearest ? (path === place.path ? 'page' : 'true') : null;
    return { ...place, path: linkPath(place, path), current };
  };
  const show = (places: readonly Place[]): Link[] => places.filter((place) => isShown(place, me)).map(link);
  return {
    main: show(MAIN),
    inbox: link(INBOX),
    create: show([NEW_TASK])[0],
    more: show(MORE),
    account: show(ACCOUNT),
  };
}
