/** Addresses that people type or remember of other programs, each with the page that it means. */
export const SHORT_PATHS: Readonly<Record<string, `/app${string}`>> = {
  '/app/': '/app',
  '/app/inbox': '/app/notifications',
  '/app/timeline': '/app/projects?show=timeline',
  '/app/tasks': '/app/views/mine',
  '/app/import': '/app/bulk',
};
