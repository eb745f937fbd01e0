import { z } from 'zod';
import { stored } from '../declare.js';
import { Task, TASK } from './shapes.js';

const fromForge = {
  repo: z.string().nullable(),
  task: Task.nullable(),
  linked_task_ids: z.array(z.string()),
  project_ids: z.array(z.string()),
  receipt_id: z.string(),
};

/** Declares an event that a delivery of the code host can map to. `fields`: what distinguishes its kind; api/integrations/forge/rules.ts has all. */
const delivered = (trigger: string, past: string, fields: object) =>
  stored({
    payload: fromForge,
    trigger,
    past,
    sample: { repo: 'acme/rocket', sender: 'octocat', ...fields, task: TASK, linked_task_ids: [TASK.task_id] },
  });

const ISSUE = {
  issue_number: 7,
  title: 'Sign-in fails on Safari',
  url: 'https://forge.example/acme/rocket/issues/7',
  labels: ['bug'],
};
const PULL_REQUEST = {
  pr_number: 12,
  title: 'Fix the sign-in on Safari',
  url: 'https://forge.example/acme/rocket/pull/12',
  merged: false,
  base: 'main',
  head: 'fix-sign-in',
  closes_issues: [7],
};
const CHECKS = { branch: 'main', sha: '9f2c' };
const RELEASE = { tag: 'v1.2.0', name: 'Spring', url: 'https://forge.example/acme/rocket/releases/1' };
const ALERT = { ghsa_id: 'GHSA-xxxx-xxxx-xxxx', severity: 'high', package: 'left-pad' };
const COMMITS = { ref: 'refs/heads/main', commit_count: 1, messages: ['Fix the sign-in'] };

export const forgeEvents = {
  'forge.issue_opened': delivered('An issue is opened on the code host', 'An issue was opened on the code host', ISSUE),
  'forge.issue_closed': delivered('An issue is closed on the code host', 'An issue was closed on the code host', ISSUE),
  'forge.issue_reopened': delivered('An issue is reopened on the code host', 'An issue was reopened on the code host', ISSUE),
  'forge.pr_opened': delivered('A pull request is opened', 'A pull request was opened', PULL_REQUEST),
  'forge.pr_synchronize': delivered('A pull request gets new commits', 'New commits on a pull request', PULL_REQUEST),
  'forge.pr_merged': delivered('A pull request is merged', 'A pull request was merged', { ...PULL_REQUEST, merged: true }),
  'forge.pr_closed': delivered(
    'A pull request is closed without a merge',
    'A pull request was closed without merging',
    PULL_REQUEST,
  ),
  'forge.push': delivered('Commits are pushed', 'Commits were pushed', COMMITS),
  'forge.release_published': delivered('A release is published', 'A release was published', RELEASE),
  'forge.check_suite_failed': delivered('Checks of a commit fail', 'Checks of a commit failed', CHECKS),
  'forge.workflow_run_failed': delivered('A CI run fails', 'A CI run failed', {
    ...CHECKS,
    name: 'CI',
    on_pr: true,
    pr_number: 12,
  }),
  'security.dependency_alert': delivered('A dependency is found vulnerable', 'A vulnerable dependency was found', ALERT),
};

export type ForgeEventType = keyof typeof forgeEvents;

/** Every event that a delivery can map to. */
export const FORGE_EVENTS = Object.keys(forgeEvents) as ForgeEventType[];

/** Triggers for several events, with their words. `forge.*` excludes the dependency alert, whose prefix is `security.`. */
export const forgeFamilies = {
  'forge.pull_request': {
    trigger: 'Anything happens to a pull request',
    past: 'Activity on a pull request',
    members: ['forge.pr_opened', 'forge.pr_synchronize', 'forge.pr_merged', 'forge.pr_closed'],
  },
  'forge.issue': {
    trigger: 'Anything happens to an issue on the code host',
    past: 'Activity on an issue on the code host',
    members: ['forge.issue_opened', 'forge.issue_closed', 'forge.issue_reopened'],
  },
  'forge.*': {
    trigger: 'Anything happens on the code host but a dependency alert',
    past: 'Activity on the code host',
    members: FORGE_EVENTS.filter((type) => type.startsWith('forge.')),
  },
} satisfies Record<string, { trigger: string; past: string; members: ForgeEventType[] }>;

/** Members of each family. */
export const FORGE_FAMILIES: Readonly<Record<keyof typeof forgeFamilies, readonly ForgeEventType[]>> = {
  'forge.pull_request': forgeFamilies['forge.pull_request'].members,
  'forge.issue': forgeFamilies['forge.issue'].members,
  'forge.*': forgeFamilies['forge.*'].members,
};

/** Returns the trigger types that an event starts: its own name and its families. */
export function listForgeTriggers(type: string): string[] {
  const families = Object.entries(FORGE_FAMILIES).filter(([, members]) => members.some((member) => member === type));
  return [type, ...families.map(([family]) => family)];
}
