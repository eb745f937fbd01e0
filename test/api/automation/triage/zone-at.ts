/** A zone in which it is now about this hour. */
export function zoneAt(hour: number): string {
  const ahead = (((hour - new Date().getUTCHours()) % 24) + 24) % 24;
  const offset = ahead > 12 ? ahead - 24 : ahead;
  // The signs of these names are the other way around.
  return offset === 0 ? 'UTC' : `Etc/GMT${offset > 0 ? '-' : '+'}${Math.abs(offset)}`;
}
