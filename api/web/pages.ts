import { adminPages } from './admin.js';
import { approvalPages } from './approvals.js';
import { automationPages } from './automations.js';
import { challengePages } from './challenges.js';
import { deprovisionPages } from './deprovision.js';
import { homePages } from './home.js';
import { invitationPages } from './invitations.js';
import { notificationPages } from './notifications.js';
import type { Page } from './page.js';
import { passwordPages } from './password.js';
import { profilePages } from './profile.js';
import { runListPages } from './run-list.js';
import { runPages } from './runs.js';
import { securityPages } from './security.js';
import { sessionPages } from './sessions.js';
import { signInPages } from './sign-in.js';
import { signUpPages } from './sign-up.js';
import { teamPages } from './teams.js';
import { tokenPages } from './tokens.js';
import { unlockPages } from './unlock.js';

/** Every page of the web app. The router and the test that sends strangers away read this list. */
export const PAGES: readonly Page[] = [
  ...homePages,
  ...signInPages,
  ...challengePages,
  ...signUpPages,
  ...passwordPages,
  ...unlockPages,
  ...approvalPages,
  ...automationPages,
  ...runListPages,
  ...runPages,
  ...notificationPages,
  ...teamPages,
  ...invitationPages,
  ...profilePages,
  ...securityPages,
  ...sessionPages,
  ...tokenPages,
  ...adminPages,
  ...deprovisionPages,
];
