import { chatByModelSection, chatByRulesSection, promptSection } from './sections/agent-chat.js';
import { pendingSection, plansSection } from './sections/agent-plans.js';
import { activeAutomationsSection } from './sections/active-automations.js';
import { approvalSection, automationSection, fiveActionsSection } from './sections/automations.js';
import { commandSection } from './sections/requests/command.js';
import { batchSection, figuresSection } from './sections/requests/deciding.js';
import { gatewaySection } from './sections/requests/gateway.js';
import { performedSection } from './sections/requests/performed.js';
import { exactJsonSection, receiptsSection } from './sections/requests/receipts.js';
import { changeRequestsSection, longPollsSection, requestWorkflowsSection } from './sections/requests/change-requests.js';
import { crowdedSection } from './sections/crowded.js';
import { approvalsListSection, decisionSection } from './sections/decisions.js';
import { filesSection } from './sections/files.js';
import { idleEventSection } from './sections/unmatched-events.js';
import { bulkSection } from './sections/bulk/bulk.js';
import { bulkExportSection } from './sections/bulk/bulk-export.js';
import { bulkImportSection } from './sections/bulk/bulk-import.js';
import { cyclesSection } from './sections/cycles.js';
import { cycleTimeSection, edgesSection, edgeWritersSection } from './sections/graph.js';
import { listSection, unchangedSection } from './sections/lists.js';
import { largeListsSection } from './sections/large-lists.js';
import { loginStormSection } from './sections/login-storm.js';
import { planningSection } from './sections/planning.js';
import { pausedSection } from './sections/paused.js';
import { processesSection } from './sections/serving/processes.js';
import type { Section } from './report.js';
import { queuePageSection } from './sections/queue-page.js';
import { runnersSection } from './sections/runners.js';
import { markCostSection, searchBesideWritesSection, searchSection } from './sections/search.js';
import { skippedSection } from './sections/skipped.js';
import { strangersSection } from './sections/strangers.js';
import { tracesSection } from './sections/serving/traces.js';
import { createNoteSection, workItemsSection } from './sections/work-items.js';
import { webhooksSection } from './sections/webhooks.js';
import { stagingSection } from './sections/staging.js';
import { streamsSection } from './sections/serving/streams.js';
import { taskSection, webhookSection } from './sections/requests-section.js';

/** Every section of `npm run bench`, in order of execution. */
export const SECTIONS = {
  webhook: webhookSection,
  create: taskSection('create'),
  update: taskSection('update'),
  status: taskSection('status'),
  get: taskSection('get'),
  list: taskSection('list'),
  me: taskSection('me'),
  traces: tracesSection,
  processes: processesSection,
  'list-1000': listSection(1_000),
  'list-10000': listSection(10_000),
  unchanged: unchangedSection,
  'large-lists': largeListsSection,
  'work-items-50': workItemsSection(50),
  'work-items-1000': workItemsSection(1_000),
  'create-note': createNoteSection,
  bulk: bulkSection,
  'bulk-export': bulkExportSection,
  'bulk-import': bulkImportSection,
  edges: edgesSection,
  'edge-writers': edgeWritersSection,
  'cycle-time': cycleTimeSection,
  cycles: cyclesSection,
  planning: planningSection,
  search: searchSection,
  'search-marks': searchBesideWritesSection,
  'search-cost': markCostSection,
  files: filesSection,
  'agent-rules': chatByRulesSection,
  'agent-model': chatByModelSection,
  'agent-prompt': promptSection,
  'agent-plans': plansSection,
  'agent-pending': pendingSection,
  'login-storm': loginStormSection,
  strangers: strangersSection,
  automation: automationSection,
  'five-actions': fiveActionsSection,
  approval: approvalSection,
  'approvals-list': approvalsListSection,
  decision: decisionSection,
  staging: stagingSection,
  'queue-page': queuePageSection,
  'change-requests': changeRequestsSection,
  'long-polls': longPollsSection,
  'request-workflows': requestWorkflowsSection,
  performed: performedSection,
  gateway: gatewaySection,
  'decision-batch': batchSection,
  'decision-figures': figuresSection,
  receipts: receiptsSection,
  'exact-json': exactJsonSection,
  command: commandSection,
  streams: streamsSection,
  idle: idleEventSection,
  active: activeAutomationsSection,
  crowded: crowdedSection,
  skipped: skippedSection,
  paused: pausedSection,
  webhooks: webhooksSection,
  runners: runnersSection,
} satisfies Record<string, Section>;
export type SectionName = keyof typeof SECTIONS;

/** Groups of sections. */
const GROUPS: Record<string, SectionName[]> = {
  agent: ['agent-rules', 'agent-model', 'agent-prompt', 'agent-plans', 'agent-pending'],
  requests: [
    ...(['change-requests', 'long-polls', 'request-workflows', 'performed', 'gateway'] as const),
    ...(['decision-batch', 'decision-figures', 'receipts', 'exact-json', 'command'] as const),
  ],
  lists: ['list-1000', 'list-10000', 'large-lists'],
  neighbors: ['strangers', 'crowded', 'skipped'],
  searches: ['search', 'search-marks', 'search-cost'],
  tasks: ['create', 'update', 'status', 'get', 'list', 'me'],
};

/** Returns the section names for the given words, in order, without duplicates. @throws Error that lists the valid names */
export function chooseSections(words: string[]): SectionName[] {
  const all = Object.keys(SECTIONS) as SectionName[];
  const asked = words.flatMap((word) => GROUPS[word] ?? [word]);
  const unknown = asked.find((name) => !all.includes(name as SectionName));
  if (unknown !== undefined) throw new Error(`There is no section "${unknown}": ${[...all, ...Object.keys(GROUPS)].join(', ')}`);
  return all.filter((name) => asked.includes(name));
}
