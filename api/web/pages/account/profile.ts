import { z } from 'zod';
import { MeUpdate } from '../../../identity/auth/schema.js';
import { updateMe } from '../../../identity/auth/update-me.js';
import { page, type Page, requireUser, type FormError, type View, type PageRequest } from '../../page.js';
import type { Fields } from '../../server/read-form.js';

const { name, display_name, username, preferences } = MeUpdate.shape;
const { timezone, locale, week_start, theme } = preferences.unwrap().shape;

function show({ me }: Pick<PageRequest, 'me'>, problem?: FormError, given: Fields = {}): Promise<View> {
  const { name, display_name, username, preferences, teams } = requireUser({ me });
  const values = { name, display_name, username, ...preferences };
  const zones = ['UTC', ...Intl.supportedValuesOf('timeZone')];
  return Promise.resolve({ view: 'account/profile', title: 'Profile', data: { values, teams, zones, problem, given } });
}

export const profilePages: Page[] = [
  page({ method: 'get', path: '/app/account', access: 'account.read', handle: (visit) => show(visit) }),
  page({
    method: 'post',
    path: '/app/account',
    access: 'account.write',
    form: z.object({ name, display_name, username, timezone, locale, week_start, theme, default_team_id: z.string() }),
    async handle({ ctx, form: { timezone, locale, week_start, theme, default_team_id, ...person } }) {
      const preferences = { timezone, locale, week_start, theme, default_team_id: default_team_id || null };
      await updateMe(ctx, { ...person, preferences });
      return { to: '/app/account', notice: { kind: 'good', text: 'Saved.' } };
    },
    onError: (visit, problem) => show(visit, problem, visit.form),
  }),
];
