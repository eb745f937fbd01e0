/** Adds a length of time to a day (`2026-11-26`; what follows it is cut off). A month ends on its last day. */
export function addTo(date: string, { days = 0, months = 0 }: { days?: number; months?: number }): string {
  const [year = 0, month = 0, day = 0] = date.slice(0, 10).split('-').map(Number);
  const last = new Date(Date.UTC(year, month + months, 0)).getUTCDate();
  return new Date(Date.UTC(year, month - 1 + months, Math.min(day, last) + days)).toISOString().slice(0, 10);
}
