# SPDX-License-Identifier: Apache-2.0
"""Parts of the benchmarks that know nothing of Haul: running and measuring, a real nginx, the report."""
