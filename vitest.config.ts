import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    globalSetup: ['./contract-tests/testServer.ts'],
    include: ['{spec,domain,db,providers,jobs,handlers,pages,run,contract-tests,bench}/**/*.test.ts'],
    testTimeout: 20_000,
    hookTimeout: 60_000,
    // Two cores: more workers than that only wait for each other.
    maxWorkers: 2,
  },
})
