import { z } from 'zod';

const count = (fallback: number, min: number, max: number) => z.coerce.number().int().min(min).max(max).default(fallback);

/** Settings about what people may do to each other. */
export const peopleSettings = {
  MEMBERSHIP_CONSENT: z
    .enum(['direct', 'required'])
    .optional()
    .describe('Whether a user who shares no team with an admin becomes a member by id at once, or is invited'),
  TEAMS_PER_USER: z.coerce
    .number()
    .int()
    .min(1)
    .max(1_000_000)
    .optional()
    .describe('Teams that one user has created and that still exist'),
  MAILS_PER_RECIPIENT_HOUR: count(30, 3, 1_000_000).describe(
    'Emails that other people and their automations send to one address in an hour; one digest counts the others',
  ),
  NOTIFICATIONS_PER_RUN: count(200, 1, 100_000).describe('Recipients that the notify actions of one run reach'),
};

interface PeopleConfig {
  NODE_ENV: 'development' | 'test' | 'production';
  MEMBERSHIP_CONSENT?: 'direct' | 'required' | undefined;
  TEAMS_PER_USER?: number | undefined;
}

/** Whether users who share no team with an admin are invited instead of added; by default in production. */
export const needsConsent = ({ NODE_ENV, MEMBERSHIP_CONSENT }: PeopleConfig): boolean =>
  (MEMBERSHIP_CONSENT ?? (NODE_ENV === 'production' ? 'required' : 'direct')) === 'required';

/** Returns the number of teams that one user may have created, unless set (docs/decisions/identity.md#teams-of-a-user). */
export const teamsPerUser = ({ NODE_ENV, TEAMS_PER_USER }: PeopleConfig): number =>
  TEAMS_PER_USER ?? (NODE_ENV === 'production' ? 50 : 1_000);
