import { GATE } from '../../../automation/actions/rules.js';
import { type Draft, type DraftAction, SUGGESTED_GATE } from './draft.js';

/** A definition that fills the builder. */
export interface AutomationTemplate {
  key: string;
  /** What it is for, in one sentence. */
  text: string;
  draft: Draft;
  /** The status that it sets is a stage where the team has one within it. */
  usesStages?: true;
  /** It waits for a choice of a field that the team must have. */
  usesField?: true;
}

const gate = (message: string, params: Record<string, unknown> = {}): DraftAction => ({
  type: GATE,
  params: { ...SUGGESTED_GATE.params, message, ...params },
});

const template = (
  key: string,
  text: string,
  draft: Pick<Draft, 'name' | 'trigger_type' | 'actions'> & Partial<Draft>,
  more: Pick<AutomationTemplate, 'usesStages' | 'usesField'> = {},
): AutomationTemplate => ({
  key,
  text,
  ...more,
  draft: { description: null, condition: null, schedule_cron: null, schedule_timezone: null, project_id: null, ...draft },
});

const TASK_ID = '{{event.task.task_id}}';

export const TEMPLATES: readonly AutomationTemplate[] = [
  template('close-on-merge', 'Close the task when its pull request is merged, after a manager approves.', {
    name: 'Close the task on merge',
    trigger_type: 'forge.pr_merged',
    condition: 'has(event.task) && event.task != null',
    actions: [
      gate('Close “{{event.task.title}}” now that #{{event.pr_number}} is merged?'),
      { type: 'set_task_status', params: { task_id: TASK_ID, status: 'done' } },
    ],
  }),
  template('start-on-push', 'Begin a task at once when a branch that names it is pushed, such as har-12-fix-the-crane.', {
    name: 'Begin the task of a branch',
    trigger_type: 'forge.push',
    condition: 'has(event.task) && event.task != null && event.task.status == "todo"',
    actions: [{ type: 'set_task_status', params: { task_id: TASK_ID, status: 'in_progress' } }],
  }),
  template(
    'review-on-pull-request',
    'Move the task to the first stage of In review, such as Code review, when its pull request is opened; to In review itself if the team has none.',
    {
      name: 'Review the task of a pull request',
      trigger_type: 'forge.pr_opened',
      condition: 'has(event.task) && event.task != null && event.task.status in ["todo", "in_progress"]',
      actions: [{ type: 'set_task_status', params: { task_id: TASK_ID, status: 'in_review' } }],
    },
    { usesStages: true },
  ),
  template('announce-finished', 'Tell the whole team of a finished task, after a manager approves.', {
    name: 'Announce finished tasks',
    trigger_type: 'task.completed',
    actions: [
      gate('Announce “{{event.task.title}}”?'),
      { type: 'notify', params: { role: 'guest', message: '{{event.task.title}} is done.' } },
    ],
  }),
  template('urgent-tasks', 'Tell managers of a task with a high or urgent priority at once; begin it after a manager approves.', {
    name: 'Begin urgent tasks',
    trigger_type: 'task.created',
    condition: 'task.priority in ["high", "urgent"]',
    actions: [
      { type: 'notify', params: { role: 'manager', message: 'Priority {{event.task.priority}}: {{event.task.title}}' } },
      gate('Begin “{{event.task.title}}” now?'),
      { type: 'set_task_status', params: { task_id: TASK_ID, status: 'in_progress' } },
    ],
  }),
  template('failed-ci', 'Create a task for a failed CI run of the main branch, after a member approves.', {
    name: 'Create a task for failed CI',
    trigger_type: 'forge.workflow_run_failed',
    condition: 'event.branch == "main"',
    actions: [
      gate('Create a task for {{event.name}}, which failed on {{event.branch}}?', { role: 'member' }),
      {
        type: 'create_task',
        params: {
          title: '{{event.name}} fails on {{event.branch}}',
          description: 'Commit {{event.sha}} in {{event.repo}}',
          priority: 'urgent',
        },
      },
    ],
  }),
  template('plan-for-issues', 'Ask the agent for a plan for each new issue; the plan itself waits for a confirmation.', {
    name: 'Plan new issues',
    trigger_type: 'forge.issue_opened',
    actions: [
      {
        type: 'run_agent',
        params: { instruction: 'Set the priority of the linked task to high if its title says that something fails.' },
      },
    ],
  }),
  template('deploy-release', 'Deploy a release after two approvals by others than its author.', {
    name: 'Deploy a release',
    trigger_type: 'forge.release_published',
    actions: [
      gate('Deploy {{event.tag}} of {{event.repo}}?', {
        required_approvals: 2,
        allow_self_approval: false,
        expires_in_seconds: 86_400,
      }),
      {
        type: 'http_request',
        params: {
          method: 'POST',
          url: 'https://deploy.example.com/releases',
          headers: { authorization: 'Bearer {{secret:DEPLOY_TOKEN}}' },
          body: { repo: '{{event.repo}}', tag: '{{event.tag}}' },
        },
      },
    ],
  }),
  template('post-to-slack', 'Post finished tasks to a Slack channel at once, by an incoming webhook.', {
    name: 'Post to Slack: finished tasks',
    description:
      'Of the address of an incoming webhook of Slack, the secret SLACK_WEBHOOK of the team holds what follows /services/. Its allowed host is hooks.slack.com.',
    trigger_type: 'task.completed',
    actions: [
      {
        type: 'http_request',
        params: {
          method: 'POST',
          url: 'https://hooks.slack.com/services/{{secret:SLACK_WEBHOOK}}',
          // As plain text: a title such as <!channel> must not call everyone.
          body: {
            text: 'A task is done',
            blocks: [{ type: 'section', text: { type: 'plain_text', text: 'Done: {{event.task.name}} {{event.task.title}}' } }],
          },
        },
      },
    ],
  }),
  template('outside-call', 'Create a task for what a form or a monitor sends, after a member approves.', {
    name: 'Create a task for a call',
    trigger_type: 'webhook',
    condition: 'has(event.body.title)',
    actions: [
      gate('Create a task for “{{event.body.title}}”?', { role: 'member' }),
      { type: 'create_task', params: { title: '{{event.body.title}}', description: '{{event.body.message}}' } },
    ],
  }),
  template('weekly-review', 'Remind members on Monday morning to review their tasks.', {
    name: 'Weekly review',
    trigger_type: 'schedule',
    schedule_cron: '0 9 * * MON',
    actions: [{ type: 'notify', params: { role: 'member', message: 'A new week: review your open tasks.' } }],
  }),
  template(
    'severe-tasks',
    'Tell managers at once of a task whose severity becomes the highest, and raise it to urgent after one approves.',
    {
      name: 'Raise severe tasks',
      trigger_type: 'task.field_changed',
      actions: [
        {
          type: 'notify',
          params: {
            role: 'manager',
            message: '{{event.field.name}} of “{{event.task.title}}” is {{event.changes.text.to}} now.',
          },
        },
        gate('Raise “{{event.task.title}}” to urgent?'),
        { type: 'update_task', params: { task_id: TASK_ID, priority: 'urgent' } },
      ],
    },
    { usesField: true },
  ),
  template('overdue-tasks', 'Raise an overdue task to urgent and say so on it, after a manager approves.', {
    name: 'Raise overdue tasks',
    trigger_type: 'task.overdue',
    actions: [
      gate('Raise “{{event.task.title}}”, due {{event.task.due_date}}, to urgent?'),
      { type: 'update_task', params: { task_id: TASK_ID, priority: 'urgent' } },
      { type: 'add_comment', params: { task_id: TASK_ID, content: 'Overdue since {{event.task.due_date}}: raised to urgent.' } },
    ],
  }),
];
