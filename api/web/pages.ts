import { approvalPages } from './approvals.js';
import { homePages } from './home.js';
import type { Page } from './page.js';
import { runPages } from './runs.js';
import { signInPages } from './sign-in.js';

/** Every page of the web app. The router and the test that sends strangers away read this list. */
export const PAGES: readonly Page[] = [...homePages, ...signInPages, ...approvalPages, ...runPages];
