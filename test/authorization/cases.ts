import { accounts } from './account-cases.js';
import { agentCases } from './agent-cases.js';
import { approvalCases } from './approval-cases.js';
import { auditCases } from './audit-cases.js';
import { automationCases, cancelCases, trashCases } from './automation-cases.js';
import { bulkCases } from './bulk-cases.js';
import { cycleCases } from './cycle-cases.js';
import { fieldCases } from './field-cases.js';
import { stageCases } from './stage-cases.js';
import { fileCases } from './file-cases.js';
import { graphCases } from './graph-cases.js';
import { hookCases } from './hook-cases.js';
import { itemCases } from './item-cases.js';
import { mcpCases } from './mcp-cases.js';
import { requestCases } from './request-cases.js';
import type { Row } from './row.js';
import { runnerCases } from './runner-cases.js';
import { signInCases } from './sign-in-cases.js';
import { taskCases } from './task-cases.js';
import { teamCases } from './team-cases.js';
import { vaultCases } from './vault-cases.js';
import { viewCases } from './view-cases.js';
import { webhookCases } from './webhook-cases.js';

/** A test file of each name runs these rows: split so that files take about the same time. */
export const GROUPS = {
  accounts: [...accounts, ...signInCases],
  teams: teamCases,
  tasks: [...taskCases, ...trashCases],
  automations: automationCases,
  approvals: [...approvalCases, ...cancelCases],
  vault: [...vaultCases, ...auditCases],
  webhooks: [...webhookCases, ...hookCases, ...runnerCases],
  cycles: cycleCases,
  requests: requestCases,
  fields: [...fieldCases, ...stageCases, ...viewCases, ...bulkCases],
  graph: graphCases,
  agent: [...agentCases, ...mcpCases],
  items: [...itemCases, ...fileCases],
} satisfies Record<string, Row[]>;

/** Every row. A route without a row, or a row without a route, fails the suite. */
export const CASES: Row[] = Object.values<Row[]>(GROUPS).flat();
