import { ADA, AT, TEAM_ID } from './people.js';
import { PROJECT_ID, TASK_ID } from './work.js';

/** Example responses about the work graph. */

const NOTE_ID = '019a9f00-0000-7000-8000-000000000012';
const FILE_ID = '019a9f00-0000-7000-8000-000000000014';
const RELATION_ID = '019a9f00-0000-7000-8000-000000000013';

const relation = {
  relation_id: RELATION_ID,
  source_id: TASK_ID,
  target_id: NOTE_ID,
  relation_type: 'related_to',
  created_by: ADA,
  created_at: AT,
};

const summary = {
  note_id: NOTE_ID,
  title: 'What we decided on Monday',
  team_id: TEAM_ID,
  project_id: PROJECT_ID,
  kind: 'note',
  created_by: ADA,
  created_at: AT,
  updated_at: AT,
  version: 1,
};
const item = {
  item_id: NOTE_ID,
  id: NOTE_ID,
  type: 'note',
  title: 'What we decided on Monday',
  description: null,
  status: 'active',
  team_id: TEAM_ID,
  project_id: PROJECT_ID,
  fields: { audience: 'everyone' },
  url: `/api/notes/${NOTE_ID}`,
  created_by: ADA,
  created_at: AT,
  updated_at: AT,
  version: 1,
};
const trashed = {
  message: 'Note moved to the trash',
  success: true,
  verified: true,
  soft_deleted: true,
  deleted_at: AT,
  restore_url: `/api/trash/note/${NOTE_ID}/restore`,
  retention_days: 30,
};

export const GRAPH: Record<string, unknown> = {
  NoteSummary: summary,
  Note: { ...summary, content: 'We ship on **Friday**.' },
  WorkItem: item,
  WholeWorkItem: { ...item, content: 'We ship on **Friday**.', kind: 'note' },
  TrashedItem: trashed,
  TrashedWorkItem: trashed,
  Relation: relation,
  ItemRelation: {
    ...relation,
    direction: 'out',
    effective_type: 'related_to',
    item: { item_type: 'note', item_id: NOTE_ID, title: 'What we decided on Monday', status: 'active' },
  },
  CycleTimes: {
    window_days: 90,
    sample_size: 1,
    by_repo: [{ repo: 'acme/rocket', median_hours: 26.5, p75_hours: 26.5, sample_size: 1 }],
    by_project: [{ project_id: PROJECT_ID, project_name: 'Apollo', median_hours: 26.5, p75_hours: 26.5, sample_size: 1 }],
    samples: [
      {
        repo: 'acme/rocket',
        issue_number: 12,
        pr_number: 31,
        project_id: PROJECT_ID,
        task_id: TASK_ID,
        opened_at: '2026-11-18T09:00:00.000Z',
        merged_at: '2026-11-19T11:30:00.000Z',
        hours: 26.5,
        reopened: false,
      },
    ],
  },
  SearchResults: {
    query: 'pressure "relief valve"',
    results: [
      {
        item_type: 'task',
        item_id: TASK_ID,
        title: 'Replace the relief valve',
        snippet: 'The <mark>relief</mark> <mark>valve</mark> opens below its <mark>pressure</mark>.',
        project_id: PROJECT_ID,
        project_name: 'Apollo',
        team_id: TEAM_ID,
        team_name: 'Propulsion',
        status: 'in_progress',
        score: 0.8,
        updated_at: AT,
      },
    ],
    total: 1,
    showing: 1,
  },
  SearchHit: {
    item_type: 'task',
    item_id: TASK_ID,
    title: 'Replace the relief valve',
    project_name: 'Apollo',
    team_name: 'Propulsion',
    status: 'in_progress',
  },
  File: {
    file_id: FILE_ID,
    name: 'launch-plan.pdf',
    size: 20_480,
    content_type: 'application/pdf',
    sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    team_id: TEAM_ID,
    project_id: PROJECT_ID,
    created_at: AT,
    download_url: `/api/files/${FILE_ID}`,
  },
  DeletedRelation: { success: true, relation_id: RELATION_ID },
};
