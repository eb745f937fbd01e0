import type { User } from '../../../identity/auth/schema.js';
import type { Member } from '../../../identity/teams/schema.js';
import { isAllowed, type Seat } from '../../../platform/access/access.js';
import type { Context } from '../../../platform/context.js';
import { listFields } from '../../../work/custom-fields/list-fields.js';
import type { CustomFieldRecord } from '../../../work/custom-fields/schema.js';
import { findPlaces } from '../../../work/graph/item-place.js';
import { listProjects } from '../../../work/projects/list-projects.js';
import { parseCustomKey, toCustomKey } from '../../../work/custom-fields/rules.js';
import { GROUP_FIELDS, hasCustomFields, type ViewEntity } from '../../../work/saved-views/rules.js';
import type { SavedViewRecord } from '../../../work/saved-views/schema.js';
import { SORT_FIELDS } from '../../../work/saved-views/sort-fields.js';
import { findStages } from '../../../work/tasks/stages/find-stages.js';
import { capitalize } from '../../wording/plain-message.js';
import { mapTeamNames, namesOf } from '../../wording/names.js';
import { nameSortField, wordOrder } from '../../wording/sort-names.js';
import { type Choice, type Pick as Picked, type Select, withChosen } from '../filters/choices.js';
import type { BarShape } from '../filters/filter-bar.js';
import { loadOpenCycles } from '../projects/task-list.js';
import { type Bar, columnsOf, orderOf, ROW_FIELDS } from './view-query.js';

/** Projects that a bar offers; those that are chosen are offered too. */
const MAX_PROJECTS = 200;
/** Teams whose members, stages and custom fields a bar offers for a view of all teams. */
const MAX_TEAMS = 5;

/** Returns the teams whose people and fields a view may name. */
export const teamsOf = ({ teams }: User, { team_id }: SavedViewRecord): { team_id: string }[] =>
  (team_id === null ? teams : teams.filter((team) => team.team_id === team_id)).slice(0, MAX_TEAMS);

/** Returns the names of the projects that a view may name, with those of its filter that the user may read. */
async function loadProjects(ctx: Context, { teams }: User, { team_id }: SavedViewRecord, chosen: readonly string[]) {
  const rows = await listProjects(ctx, { ...(team_id !== null && { team_id }), limit: MAX_PROJECTS, offset: 0 });
  const projects = rows.map((text) => JSON.parse(text) as { project_id: string; name: string; status: string });
  const listed = projects.filter(({ project_id, status }) => status === 'active' || chosen.includes(project_id));
  const names = new Map(listed.toSorted((a, b) => a.name.localeCompare(b.name, 'en')).map((one) => [one.project_id, one.name]));
  const roles = new Map(teams.map((team) => [team.team_id, team.role as Seat]));
  for (const [id, place] of await findPlaces(
    ctx,
    chosen.filter((id) => !names.has(id)),
  )) {
    if (isAllowed('project.read', roles.get(place.team_id) ?? null)) names.set(id, place.title);
  }
  return Object.fromEntries(names);
}

/** Loads what the bar of a view knows. `members`: of the teams of the view, by team. */
export async function loadViewAround(
  ctx: Context,
  me: User,
  view: SavedViewRecord,
  bar: Bar,
  members: ReadonlyMap<string, readonly Member[]>,
) {
  const { entity_type } = view;
  const teams = teamsOf(me, view).map(({ team_id }) => team_id);
  const isTask = entity_type === 'task';
  const [cycles, stages, fields, projects] = await Promise.all([
    isTask ? loadOpenCycles(ctx, teams) : [],
    isTask ? findStages(ctx, teams) : [],
    hasCustomFields(entity_type) ? Promise.all(teams.map((team_id) => listFields(ctx, { team_id, entity_type }))) : [],
    loadProjects(ctx, me, view, bar.project_id ?? []),
  ]);
  const teamNames = mapTeamNames(me);
  // Stages of several teams may have one name.
  const named = (stage: { name: string; team_id: string }) =>
    teams.length > 1 ? `${stage.name} · ${teamNames[stage.team_id]}` : stage.name;
  const people = teams.flatMap((team_id) => members.get(team_id) ?? []);
  return {
    names: namesOf(me, members),
    filterCycles: Object.fromEntries(cycles.map(({ cycle_id, name }) => [cycle_id, name])),
    members: [...new Map(people.map((one) => [one.user_id, one])).values()],
    stages: stages.map((stage) => ({ ...stage, name: named(stage) })),
    fields: fields.flat(),
    projects,
  };
}

/** Returns the orders of a view, with the one of its layout first. */
function sortChoices(entity: ViewEntity, isBoard: boolean, custom: readonly Choice[], bar: Bar): Choice[] {
  const own: Choice = ['', isBoard ? 'Manual order' : 'Oldest first'];
  const offered = SORT_FIELDS[entity].filter((field) => field !== 'position');
  const named = offered.map(
    (field): Choice => [field, capitalize(wordOrder(orderOf(field, bar.sort === field && bar.reversed === 'yes')))],
  );
  const byField = custom.map(([field, name]): Choice => [field, `By ${name}`]);
  return withChosen([own, ...named, ...byField], bar.sort ? [bar.sort] : [], (field) => capitalize(nameSortField(field)));
}

/** What the choices of a view are named after. */
interface Named {
  custom: Choice[];
  nameOf: (field: string) => string;
}

const nameAll = (fields: readonly string[]): Choice[] => fields.map((field) => [field, capitalize(nameSortField(field))]);

/** Returns the columns of a list, with those that it has. */
function columnPick(view: SavedViewRecord, { custom, nameOf }: Named): Picked {
  const chosen = columnsOf(view);
  return {
    name: 'columns',
    label: 'Columns',
    free: 'The usual ones',
    choices: withChosen([...nameAll(ROW_FIELDS[view.entity_type]), ...custom], chosen, nameOf),
    chosen,
    isNot: undefined,
    said: chosen.length > 0 ? chosen.map(nameOf).join(', ') : undefined,
    isDisplay: true,
  };
}

/** Returns the choices that a view has beside those of a project: its team, its layout and the direction of its order. */
function listViewSelects(me: User, view: SavedViewRecord, { team = '', sort, reversed = '' }: Bar): Select[] {
  const select = (name: string, label: string, choices: Choice[], chosen: string): Select => ({
    name,
    label,
    choices,
    chosen,
    isDisplay: name !== 'team',
  });
  const teams: Choice[] = [['', 'All my teams'], ...me.teams.map(({ team_id, name }): Choice => [team_id, name])];
  const layouts: Choice[] = [
    ['', 'List'],
    ['board', 'Board'],
  ];
  const directions: Choice[] = [
    ['', 'As usual'],
    ['yes', 'Reversed'],
  ];
  return [
    select(
      'team',
      'Team',
      withChosen(teams, [team], () => 'Another team'),
      team,
    ),
    ...(view.entity_type === 'task' ? [select('layout', 'Layout', layouts, view.layout === 'board' ? 'board' : '')] : []),
    select('reversed', 'Direction', directions, sort ? reversed : ''),
  ];
}

/** Returns the bar of a view. */
export function viewBar(me: User, view: SavedViewRecord, bar: Bar, fields: readonly CustomFieldRecord[]): BarShape {
  const { entity_type: entity } = view;
  const isBoard = view.layout === 'board' && entity === 'task';
  const open = fields.filter(({ is_archived }) => !is_archived);
  const custom = [...new Map(open.map(({ key, name }) => [toCustomKey(key), name]))];
  const nameOf = (field: string) =>
    fields.find(({ key }) => key === parseCustomKey(field))?.name ?? capitalize(nameSortField(field));
  const group = bar.group ? [bar.group] : [];
  return {
    entity,
    without: [],
    sorts: sortChoices(entity, isBoard, custom, bar),
    groupings: isBoard ? [] : withChosen([...nameAll(GROUP_FIELDS[entity]), ...custom], group, nameOf),
    selects: listViewSelects(me, view, bar),
    picks: isBoard ? [] : [columnPick(view, { custom, nameOf })],
  };
}
