import type { AutomationRunInput } from './contract.js';
export async function automationRun(_input: AutomationRunInput): Promise<void> {}
