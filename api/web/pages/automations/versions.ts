import { z } from 'zod';
import { findRights } from '../../../automation/definitions/find-rights.js';
import { getAutomation } from '../../../automation/definitions/get-automation.js';
import { AutomationParams } from '../../../automation/definitions/schema.js';
import { getVersion, listVersions } from '../../../automation/definitions/versions/list-versions.js';
import { namesIn } from '../../wording/names.js';
import { wordDiff } from '../../wording/word-diff.js';
import { page, type Page, requireUser } from '../../page.js';
import { compareVersions } from './compare-versions.js';
import { namesOfIds } from './named-ids.js';

const PAGE_SIZE = 50;
/** Texts that one comparison shows word by word. */
const MAX_COMPARISONS = 60;

const Version = z
  .string()
  .regex(/^[1-9]\d{0,8}$/)
  .transform(Number)
  .optional()
  .catch(undefined);

const Offset = z
  .string()
  .regex(/^\d{1,5}$/)
  .transform(Number)
  .optional()
  .catch(undefined)
  .transform((offset) => offset ?? 0);

export const automationVersionPages: Page[] = [
  page({
    method: 'get',
    path: '/app/automations/:automation_id/versions',
    access: 'automation.read',
    params: AutomationParams,
    query: z.object({ from: Version, to: Version, offset: Offset }),
    async handle({ ctx, me, params: { automation_id }, query }) {
      const automation = await getAutomation(ctx, automation_id);
      const person = requireUser({ me });
      const [found, rights, names, ids] = await Promise.all([
        listVersions(ctx, automation_id, { limit: PAGE_SIZE + 1, offset: query.offset }),
        findRights(ctx, automation),
        namesIn(ctx, person, [automation]),
        namesOfIds(ctx, person, automation.team_id),
      ]);
      const versions = found.slice(0, PAGE_SIZE);
      const to = query.to ?? versions[0]?.version ?? automation.version;
      const from = query.from ?? versions.find(({ version }) => version < to)?.version ?? to;
      const [old, fresh] = await Promise.all([getVersion(ctx, automation_id, from), getVersion(ctx, automation_id, to)]);
      const data = {
        automation,
        versions,
        names,
        from,
        to,
        diff: compareVersions(old, fresh, { compare: wordDiff(MAX_COMPARISONS), names: ids }),
        next: found.length > versions.length ? query.offset + versions.length : undefined,
        ...rights,
      };
      return { view: 'automations/versions', title: `Versions of ${automation.name}`, data };
    },
  }),
];
