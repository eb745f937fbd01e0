import { adminPages } from './pages/admin/admin.js';
import { conversationPages } from './pages/agent/chat.js';
import { beginPages } from './pages/agent/begin.js';
import { codeHostPages } from './pages/teams/code-host.js';
import { codeHostAddressPages } from './pages/teams/code-host-address.js';
import { agentSettingsPages } from './pages/teams/agent-settings.js';
import { approvalPages } from './pages/work/approvals.js';
import { decidedPages } from './pages/work/decided.js';
import { automationPages } from './pages/automations/automation.js';
import { addressPages } from './pages/automations/address.js';
import { automationListPages } from './pages/automations/list.js';
import { automationSwitchPages } from './pages/automations/switches.js';
import { builderPages } from './pages/automations/builder.js';
import { conditionPages } from './pages/automations/condition.js';
import { schedulePages } from './pages/automations/schedule.js';
import { dryRunPages } from './pages/automations/dry-run.js';
import { automationVersionPages } from './pages/automations/versions.js';
import { challengePages } from './pages/account/challenges.js';
import { importPages } from './pages/bulk/import.js';
import { bulkJobPages } from './pages/bulk/job.js';
import { bulkListPages } from './pages/bulk/jobs.js';
import { trashPages } from './pages/bulk/trash.js';
import { cyclePages } from './pages/cycles/cycle.js';
import { cycleListPages } from './pages/cycles/list.js';
import { cycleTimePages } from './pages/work/cycle-time.js';
import { deprovisionPages } from './pages/admin/deprovision.js';
import { fieldPages } from './pages/teams/field.js';
import { fieldsPages } from './pages/teams/fields.js';
import { requestRulePages } from './pages/teams/request-rules.js';
import { stagePages } from './pages/teams/stages.js';
import { firstStepPages } from './pages/work/first-steps.js';
import { homePages } from './pages/work/home.js';
import { invitationPages } from './pages/teams/invitations.js';
import { editPages } from './pages/items/edit.js';
import { itemPages } from './pages/items/item.js';
import { keyPages } from './pages/account/keys.js';
import { notificationPages } from './pages/work/notifications.js';
import { auditPages } from './pages/teams/audit.js';
import type { Page } from './page.js';
import { passwordPages } from './pages/account/password.js';
import { notePages } from './pages/projects/notes.js';
import { boardPages } from './pages/projects/board.js';
import { bulkTaskPages } from './pages/projects/bulk.js';
import { newTaskPages } from './pages/projects/new-task.js';
import { projectListPages } from './pages/projects/all/list.js';
import { projectPages } from './pages/projects/project.js';
import { projectUpdatePages } from './pages/items/project-updates.js';
import { undoPages } from './pages/projects/undo.js';
import { profilePages } from './pages/account/profile.js';
import { requestPages } from './pages/requests/request.js';
import { runListPages } from './pages/work/run-list.js';
import { runPages } from './pages/work/runs.js';
import { runnerJobPages } from './pages/runners/job.js';
import { runnerListPages } from './pages/runners/list.js';
import { secretPages } from './pages/teams/secrets.js';
import { itemPartPages } from './pages/items/parts.js';
import { searchPages } from './pages/items/search.js';
import { securityPages } from './pages/account/security.js';
import { sessionPages } from './pages/account/sessions.js';
import { signInPages } from './pages/account/sign-in.js';
import { signUpPages } from './pages/account/sign-up.js';
import { teamPages } from './pages/teams/teams.js';
import { tokenPages } from './pages/account/tokens.js';
import { webhookDeliveryPages } from './pages/teams/webhooks/delivery.js';
import { webhookListPages } from './pages/teams/webhooks/list.js';
import { webhookPages } from './pages/teams/webhooks/webhook.js';
import { viewListPages } from './pages/views/views.js';
import { viewPages } from './pages/views/view.js';
import { unlockPages } from './pages/account/unlock.js';

/** Every page of the web app. The router and the access test read this list. */
export const PAGES: readonly Page[] = [
  ...homePages,
  ...firstStepPages,
  ...signInPages,
  ...challengePages,
  ...signUpPages,
  ...passwordPages,
  ...unlockPages,
  ...approvalPages,
  ...decidedPages,
  ...requestPages,
  ...beginPages,
  ...conversationPages,
  ...automationListPages,
  // Fixed paths come before the one with an id, which would match them.
  ...conditionPages,
  ...schedulePages,
  ...builderPages,
  ...automationPages,
  ...automationVersionPages,
  ...automationSwitchPages,
  ...addressPages,
  ...dryRunPages,
  ...runListPages,
  ...runPages,
  ...projectListPages,
  ...projectPages,
  ...projectUpdatePages,
  ...notePages,
  ...boardPages,
  ...newTaskPages,
  ...bulkTaskPages,
  ...itemPages,
  ...editPages,
  ...itemPartPages,
  ...undoPages,
  ...searchPages,
  ...viewListPages,
  ...viewPages,
  ...cycleListPages,
  ...cyclePages,
  ...cycleTimePages,
  ...bulkListPages,
  ...importPages,
  ...bulkJobPages,
  ...trashPages,
  ...runnerListPages,
  ...runnerJobPages,
  ...notificationPages,
  ...teamPages,
  ...fieldsPages,
  ...fieldPages,
  ...requestRulePages,
  ...stagePages,
  ...secretPages,
  ...webhookListPages,
  ...webhookPages,
  ...webhookDeliveryPages,
  ...codeHostPages,
  ...codeHostAddressPages,
  ...agentSettingsPages,
  ...auditPages,
  ...invitationPages,
  ...profilePages,
  ...securityPages,
  ...sessionPages,
  ...tokenPages,
  ...keyPages,
  ...adminPages,
  ...deprovisionPages,
];
