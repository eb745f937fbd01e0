import { approvalPages } from './approvals.js';
import { homePages } from './home.js';
import { invitationPages } from './invitations.js';
import type { Page } from './page.js';
import { runPages } from './runs.js';
import { signInPages } from './sign-in.js';
import { teamPages } from './teams.js';
import { tokenPages } from './tokens.js';

/** Every page of the web app. The router and the test that sends strangers away read this list. */
export const PAGES: readonly Page[] = [
  ...homePages,
  ...signInPages,
  ...approvalPages,
  ...runPages,
  ...teamPages,
  ...invitationPages,
  ...tokenPages,
];
