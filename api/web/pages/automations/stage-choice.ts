import { type Place, toPlaces } from '../../../work/tasks/stages/places.js';
import { findStageNamed } from '../../../gate/work-actions/own-names.js';
import { isUuid } from '../../../platform/ids.js';
import type { Draft, DraftAction } from './draft.js';
import type { TeamWords } from './own-words.js';
import type { ParamField } from './param-fields.js';

/** A stage and a status are one choice in a form, as wherever a status is set: each value is a status or the id of a stage. */
export const STAGE = 'stage_id';
const STATUS = 'status';
const SETS_STATUS = 'set_task_status';
/** The action by which a chosen stage is saved for one that sets the status alone. */
const SETS_FIELDS = 'update_task';
const TAKES_BOTH = [SETS_STATUS, SETS_FIELDS, 'create_task'];

const valueOf = ({ status, stage }: Place): string => stage?.stage_id ?? status;

/** Returns the field of a status with the stages of the team among its choices; any other field as it is. */
export function withStages(field: ParamField, type: string, own: TeamWords | undefined): ParamField {
  if (!own || own.places.length === 0 || field.name !== STATUS || !TAKES_BOTH.includes(type)) return field;
  const places = toPlaces(own.places);
  const labelOf = (status: string): string => field.optionTexts[status] ?? status;
  return {
    ...field,
    hint:
      type === SETS_STATUS
        ? 'A stage sets its status too; it is saved as “Change fields of a task”'
        : 'A stage sets its status too',
    options: places.map(valueOf),
    optionTexts: Object.fromEntries(places.map((place) => [valueOf(place), place.stage?.name ?? labelOf(place.status)])),
    groups: field.options.map((status) => ({
      label: labelOf(status),
      options: places.filter((place) => place.status === status).map(valueOf),
    })),
  };
}

/** Keeps a chosen stage in sight that is none of the team: another team was chosen after it, or it was deleted. */
export function withLostStage(field: ParamField, chosen: string): ParamField {
  if (field.name !== STATUS || !isUuid(chosen) || field.options.includes(chosen)) return field;
  const [name, options] = ['A stage that the team does not have', [chosen]];
  const groups = [{ label: name, options }, ...(field.groups ?? [{ label: '', options: field.options }])];
  return { ...field, groups, optionTexts: { ...field.optionTexts, [chosen]: name } };
}

type Params = [name: string, value: unknown][];

/** Returns parameters as a form has them: a stage of the team as the choice of the status. Beside a status, or of no stage of the team, it has a field of its own. */
export function joinStage(type: string, params: Params, own: TeamWords | undefined): Params {
  const given = params.find(([name]) => name === STAGE)?.[1];
  const stage = own && typeof given === 'string' ? findStageNamed(own.places, given) : undefined;
  if (!stage || !TAKES_BOTH.includes(type) || params.some(([name]) => name === STATUS)) return params;
  return params.map(([name, value]) => (name === STAGE ? [STATUS, stage.stage_id] : [name, value]));
}

/** Does the opposite. Only an action that changes fields can set a stage. */
export function splitStage(type: string, params: Params, own: TeamWords | undefined): { type: string; params: Params } {
  const chosen = params.find(([name]) => name === STATUS)?.[1];
  const stage = TAKES_BOTH.includes(type) && own?.places.find(({ stage_id }) => stage_id === chosen);
  if (!stage) return { type, params };
  return {
    type: type === SETS_STATUS ? SETS_FIELDS : type,
    params: params.map(([name, value]) => (name === STATUS ? [STAGE, stage.stage_id] : [name, value])),
  };
}

/** Returns a definition whose statuses are the first stages within them, where the team has some. */
export const withFirstStages = (draft: Draft, own: TeamWords | undefined): Draft => ({
  ...draft,
  actions: draft.actions.map((action) => {
    const status = action.type === SETS_STATUS ? action.params[STATUS] : undefined;
    const [first] = toPlaces(own?.places ?? []).filter(({ stage }) => stage !== null && stage.status === status);
    const params = Object.entries(action.params).map(([name, value]) =>
      name === STATUS ? [STAGE, first?.stage?.stage_id] : [name, value],
    );
    return first ? { ...action, type: SETS_FIELDS, params: Object.fromEntries(params) as DraftAction['params'] } : action;
  }),
});
