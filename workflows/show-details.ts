import { setCurrentDetails } from '@temporalio/workflow';

/**
 * What an operator reads under "Current details", markdown. A blank line goes last: the Temporal UI (2.42) measures the panel without
 * its margins and cuts the last line off.
 */
export const showDetails = (markdown: string): void => setCurrentDetails(`${markdown}\n\n\u00a0`);
