/** String without characters that PostgreSQL cannot store. */
export type Text = string | null;
/** ISO 8601 in UTC. */
export type Timestamp = string | null;

/** Fields of every payload. */
export interface Base {
  repo: Text;
  sender: Text;
  action: Text;
}

interface IssuePayload extends Base {
  issue_number: number | null;
  title: Text;
  url: Text;
  created_at: Timestamp;
  labels: string[];
}

interface PullRequestPayload extends Base {
  pr_number: number | null;
  title: Text;
  url: Text;
  merged: boolean | null;
  created_at: Timestamp;
  merged_at: Timestamp;
  base: Text;
  head: Text;
  head_sha: Text;
  closes_issues: number[];
}

interface PushPayload extends Base {
  ref: Text;
  commit_count: number;
  messages: string[];
}

interface ReleasePayload extends Base {
  tag: Text;
  name: Text;
  url: Text;
}

interface CheckSuitePayload extends Base {
  branch: Text;
  sha: Text;
}

interface WorkflowRunPayload extends Base {
  run_id: number | null;
  branch: Text;
  sha: Text;
  name: Text;
  url: Text;
  pr_number: number | null;
  on_pr: boolean;
}

interface DependencyAlertPayload extends Base {
  ghsa_id: Text;
  cve_id: Text;
  severity: Text;
  package: Text;
  ecosystem: Text;
  vulnerable_range: Text;
  fixed_version: Text;
  cvss_score: number | null;
  url: Text;
}

/** Payload of each event. */
export interface ForgePayloads {
  'forge.issue_opened': IssuePayload;
  'forge.issue_closed': IssuePayload;
  'forge.issue_reopened': IssuePayload;
  'forge.pr_opened': PullRequestPayload;
  'forge.pr_synchronize': PullRequestPayload;
  'forge.pr_merged': PullRequestPayload;
  'forge.pr_closed': PullRequestPayload;
  'forge.push': PushPayload;
  'forge.release_published': ReleasePayload;
  'forge.check_suite_failed': CheckSuitePayload;
  'forge.workflow_run_failed': WorkflowRunPayload;
  'security.dependency_alert': DependencyAlertPayload;
}
