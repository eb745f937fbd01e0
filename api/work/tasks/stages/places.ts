import { STATUS_CHOICES, TASK_STATUSES, type TaskStatus } from '../rules.js';

/** Stages of one team. */
export const MAX_STAGES = 20;
export const MAX_POSITION = 1_000_000;

/** A step that a team names within a status (docs/decisions/work.md#stages). `position`: below 0 before the tasks of the status that are in no stage, above 0 after them. */
export interface Stage {
  stage_id: string;
  team_id: string;
  name: string;
  status: TaskStatus;
  position: number;
}

/** Returns whether a name is already that of a status: two things of one name could not be told apart. */
export const isStatusName = (name: string): boolean =>
  STATUS_CHOICES.some((status) => [status.replace('_', ' '), 'to do'].includes(name.toLowerCase().replaceAll(/[-_ ]+/g, ' ')));

/** A place of the work of a team: a stage, or the tasks of a status that are in none. */
export interface Place {
  status: TaskStatus;
  stage: Stage | null;
}

/** Returns the places of a team in their order: the four statuses, each with its stages before and after. */
export const toPlaces = (stages: readonly Stage[]): Place[] =>
  TASK_STATUSES.flatMap((status) => {
    const own = stages.filter((stage) => stage.status === status).toSorted((a, b) => a.position - b.position);
    const places = (some: readonly Stage[]): Place[] => some.map((stage) => ({ status, stage }));
    return [
      ...places(own.filter(({ position }) => position < 0)),
      { status, stage: null },
      ...places(own.filter(({ position }) => position > 0)),
    ];
  });

/**
 * Returns the position of a new stage: at the end of its status, of To do at the beginning, because what is named there comes before the work that is
 * ready.
 */
export const freePosition = (stages: readonly Stage[], status: TaskStatus): number => {
  const positions = stages.filter((stage) => stage.status === status).map(({ position }) => position);
  return status === 'todo' ? Math.min(0, ...positions) - 1 : Math.max(0, ...positions) + 1;
};

/**
 * Returns the positions of the stages that a stage displaces when it takes `position`: those that stand there or further from the tasks without a stage
 * move one further.
 */
export const displaced = (stages: readonly Stage[], { stage_id, status }: Stage, position: number): Stage[] => {
  const side = Math.sign(position);
  return stages
    .filter((one) => one.status === status && one.stage_id !== stage_id && one.position * side >= position * side)
    .map((one) => ({ ...one, position: one.position + side }));
};

/** Returns the position that moves a stage past its neighbor; undefined at the end of its status. */
export function positionBeyond(stages: readonly Stage[], stage: Stage, step: -1 | 1): number | undefined {
  const own = toPlaces(stages).filter(({ status }) => status === stage.status);
  const next = own[own.findIndex((place) => place.stage?.stage_id === stage.stage_id) + step];
  if (next === undefined) return undefined;
  if (next.stage === null) return step;
  const { position } = next.stage;
  return Math.sign(position) === step ? position + step : position;
}
