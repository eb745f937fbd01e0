/** Choices of an import, in the words of its forms. The first format is that of the file. */
export const IMPORT_CHOICES = {
  formats: [
    ['', 'recognized from the file'],
    ['linear_csv', 'Linear, issues as CSV'],
    ['jira_csv', 'Jira, all fields as CSV'],
    ['github_json', 'GitHub, issues of gh issue list --json'],
    ['ndjson', 'NDJSON of an export'],
    ['json', 'JSON of an export'],
    ['csv', 'CSV of an export'],
  ],
  conflicts: [
    ['skip', 'stay as they are'],
    ['update', 'take the fields of the file'],
    ['error', 'are reported as errors'],
  ],
} as const;
