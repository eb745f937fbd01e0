export async function seedDemo(_s: unknown): Promise<boolean> {
  return false;
}
