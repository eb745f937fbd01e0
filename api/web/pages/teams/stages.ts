import { z } from 'zod';
import { getTeam } from '../../../identity/teams/get-team.js';
import { TeamParams } from '../../../identity/teams/schema.js';
import { isAllowed, type Seat } from '../../../platform/access/access.js';
import { TASK_STATUSES } from '../../../work/tasks/rules.js';
import { createStage } from '../../../work/tasks/stages/create-stage.js';
import { deleteStage } from '../../../work/tasks/stages/delete-stage.js';
import { findStages } from '../../../work/tasks/stages/find-stages.js';
import { MAX_STAGES, toPlaces } from '../../../work/tasks/stages/places.js';
import { CreateStage, StageParams } from '../../../work/tasks/stages/schema.js';
import { shiftStage, updateStage } from '../../../work/tasks/stages/update-stage.js';
import { type FormError, page, type Page, type PageRequest, requireUser, type View } from '../../page.js';
import type { Fields } from '../../server/read-form.js';

const buildPath = (teamId: string) => `/app/teams/${teamId}/stages`;
const StagePageParams = TeamParams.extend(StageParams.shape);
const { name, status } = CreateStage.shape;

/** What many teams name first. */
const SUGGESTED = [
  { name: 'Backlog', status: 'todo' },
  { name: 'In QA', status: 'in_review' },
  { name: 'Ready to deploy', status: 'in_review' },
] as const;

async function showStages(
  { ctx, me }: Pick<PageRequest, 'ctx' | 'me'>,
  teamId: string,
  { problem, given = {} }: { problem?: FormError; given?: Fields } = {},
): Promise<View> {
  const [team, stages] = await Promise.all([getTeam(ctx, teamId), findStages(ctx, [teamId])]);
  const seat = (requireUser({ me }).teams.find(({ team_id }) => team_id === teamId)?.role ?? null) as Seat | null;
  const taken = new Set(stages.map((stage) => stage.name.toLowerCase()));
  const data = {
    team,
    stages,
    places: toPlaces(stages),
    manages: isAllowed('stage.manage', seat),
    most: MAX_STAGES,
    suggested: SUGGESTED.filter((one) => !taken.has(one.name.toLowerCase())),
    statuses: TASK_STATUSES,
    problem,
    given,
  };
  return { view: 'teams/stages', title: 'Stages', data };
}

/** Why a button of the list was refused, on the page of the list. */
const bounced = ({ params }: { params: { team_id: string } }, { message, fields }: FormError) =>
  Promise.resolve({
    to: buildPath(params.team_id),
    notice: { kind: 'bad' as const, text: fields['name'] ? `Name: ${fields['name']}` : message },
  });

export const stagePages: Page[] = [
  page({
    method: 'get',
    path: '/app/teams/:team_id/stages',
    access: 'stage.list',
    params: TeamParams,
    handle: (visit) => showStages(visit, visit.params.team_id),
  }),
  page({
    method: 'post',
    path: '/app/teams/:team_id/stages',
    access: 'stage.manage',
    params: TeamParams,
    form: z.object({ name, status }),
    async handle({ ctx, params: { team_id }, form }) {
      const stage = await createStage(ctx, { team_id, ...form });
      return { to: buildPath(team_id), notice: { kind: 'good', text: `${stage.name} was added.` } };
    },
    onError: (visit, problem) => showStages(visit, visit.params.team_id, { problem, given: visit.form }),
  }),
  page({
    method: 'post',
    path: '/app/teams/:team_id/stages/:stage_id/name',
    access: 'stage.manage',
    params: StagePageParams,
    form: z.object({ name }),
    async handle({ ctx, params: { team_id, stage_id }, form }) {
      const stage = await updateStage(ctx, stage_id, form);
      return { to: buildPath(team_id), notice: { kind: 'good', text: `The stage is called ${stage.name} now.` } };
    },
    onError: bounced,
  }),
  page({
    method: 'post',
    path: '/app/teams/:team_id/stages/:stage_id/move',
    access: 'stage.manage',
    params: StagePageParams,
    form: z.object({ to: z.enum(['up', 'down']) }),
    async handle({ ctx, params: { team_id, stage_id }, form }) {
      await shiftStage(ctx, stage_id, form.to === 'up' ? -1 : 1);
      return { to: buildPath(team_id) };
    },
    onError: bounced,
  }),
  page({
    method: 'post',
    path: '/app/teams/:team_id/stages/:stage_id/delete',
    access: 'stage.manage',
    params: StagePageParams,
    async handle({ ctx, params: { team_id, stage_id } }) {
      const tasks = await deleteStage(ctx, stage_id);
      const left = tasks === 0 ? '' : tasks === 1 ? ' Its task keeps its status.' : ` Its ${tasks} tasks keep their status.`;
      return { to: buildPath(team_id), notice: { kind: 'good', text: `The stage was deleted.${left}` } };
    },
    onError: bounced,
  }),
];
