import { setCurrentDetails } from '@temporalio/workflow';

/**
 * Sets the workflow's current details as Markdown. Adds a blank line, because the Temporal UI (2.42) measures the panel without
 * its margins and cuts off the last line.
 */
export const showDetails = (markdown: string): void => setCurrentDetails(`${markdown}\n\n\u00a0`);
