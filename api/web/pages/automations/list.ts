import { z } from 'zod';
import { isAdmitted, isAllowed, type Seat } from '../../../platform/access/access.js';
import { listAutomations } from '../../../automation/definitions/list-automations.js';
import type { AutomationRecord } from '../../../automation/definitions/schema.js';
import { describeTrigger, splitStages } from '../../wording/automation-text.js';
import { mapTeamNames } from '../../wording/names.js';
import { page, type Page, requireUser } from '../../page.js';

const PAGE_SIZE = 50;
/** Actions of one stage that a line names. */
const MAX_NAMED = 4;

/** A filter that holds nonsense does not count. */
const Filter = z.object({
  team: z.uuid().optional().catch(undefined),
  before: z.uuid().optional().catch(undefined),
});

/** An automation as its line shows it. */
const toLine = (automation: AutomationRecord) => ({
  ...automation,
  trigger: describeTrigger(automation),
  stages: splitStages(automation.actions).map(({ gate, actions }) => ({
    gate,
    actions: actions.slice(0, MAX_NAMED),
    more: Math.max(0, actions.length - MAX_NAMED),
  })),
});

const buildAddress = (team: string | undefined, before?: string): string => {
  const given = Object.entries({ team, before }).filter((pair): pair is [string, string] => pair[1] !== undefined);
  return `/app/automations${given.length > 0 ? `?${new URLSearchParams(given).toString()}` : ''}`;
};

export const automationListPages: Page[] = [
  page({
    method: 'get',
    path: '/app/automations',
    access: 'automation.list',
    query: Filter,
    async handle({ ctx, me, query: { team: wanted, before } }) {
      const person = requireUser({ me });
      const team = person.teams.find(({ team_id }) => team_id === wanted);
      const found = await listAutomations(ctx, { team_id: team?.team_id, before, limit: PAGE_SIZE + 1 });
      const shown = found.slice(0, PAGE_SIZE);
      const last = shown.at(-1);
      const data = {
        team,
        automations: shown.map(toLine),
        teamNames: mapTeamNames(person),
        creates:
          isAdmitted('automation.write', ctx.actor) && (team === undefined || isAllowed('automation.write', team.role as Seat)),
        pages: {
          first: before === undefined ? undefined : buildAddress(team?.team_id),
          next: found.length > shown.length && last ? buildAddress(team?.team_id, last.automation_id) : undefined,
        },
      };
      return { view: 'automations/list', title: 'Automations', data, teamId: team?.team_id };
    },
  }),
];
