"""Faults that users of other tools have reported, and the tests that show what becomes of each here.

What no other test shows is shown in test_known_faults_*.py.
"""

from __future__ import annotations

import ast
from functools import cache

import house

_BUILD, _COPIES, _DIRTY = (f"tests/test_known_faults_{end}.py" for end in ("build", "copies", "dirty"))

FAULTS: dict[str, tuple[str, ...]] = {
    # -- tasks, resuming, figures
    "datatrove#301: a torn file of signatures is read back": (
        f"{_COPIES}::test_a_torn_file_of_signatures_is_refused_with_advice_that_helps",
        "tests/dedup/test_plan.py::test_a_torn_signature_is_named",
        "tests/dedup/test_records.py::test_a_file_that_is_not_whole_is_refused_by_name",
    ),
    "datatrove#157: a rerun meets files of another configuration": (
        f"{_COPIES}::test_what_another_configuration_left_changes_nothing",
        "tests/dedup/test_plan.py::test_another_plan_starts_over",
        "tests/corpus/test_job.py::test_the_same_build_goes_on_and_another_starts_afresh",
    ),
    "datatrove#338: a local task that was killed is never finished": (
        "tests/jobs/test_pool.py::test_a_lost_worker_costs_time_only",
        "tests/jobs/test_pool.py::test_a_task_that_always_kills_its_worker_is_named_and_the_others_are_done",
        "tests/corpus/test_build.py::test_killed_at_drawn_calls_of_the_system_the_same_bytes",
    ),
    "datatrove#360: after resuming, the figures are of the last attempt": (
        f"{_BUILD}::test_a_resumed_build_with_other_workers_reads_on_and_counts_everything",
    ),
    "datatrove#316, #152: a large file is one task, begun again after a kill": (
        "tests/read/test_shards.py::test_small_files_are_put_together_and_large_ones_cut",
        f"{_BUILD}::test_a_resumed_build_with_other_workers_reads_on_and_counts_everything",
    ),
    "datatrove#238, #291: more than 1,000 tasks break Slurm": (
        "tests/jobs/test_slurm.py::test_many_tasks_are_sliced",
    ),
    "datatrove#497: figures grow with the tasks of a process; English words need the heavy packages": (
        f"{_BUILD}::test_figures_do_not_grow_with_the_tasks_of_a_process",
        f"{_BUILD}::test_english_words_and_all_of_danlu_need_no_optional_package",
    ),
    "data-juicer#1036: another layout of tasks makes what is done worthless": (
        f"{_BUILD}::test_a_resumed_build_with_other_workers_reads_on_and_counts_everything",
    ),
    "data-juicer#906: pairs of copies are not recorded": (
        f"{_COPIES}::test_every_copy_says_what_it_is_a_copy_of",
    ),
    "data-juicer#328: temporary folders fill with caches": (
        f"{_BUILD}::test_a_build_writes_to_its_own_folders_alone",
    ),
    "Curator#109, #736: an installation without a GPU fails at import": (
        f"{_BUILD}::test_english_words_and_all_of_danlu_need_no_optional_package",
        "tests/test_layers.py::test_torch_stays_out",
    ),
    "Daft#7002: dividing into more parts than there are documents fails": (
        "tests/dedup/test_clusters.py::test_nothing_depends_on_shards_ranges_or_order",
        f"{_BUILD}::test_limits_that_are_met_everywhere_change_nothing",
    ),
    "ray#65544: reading in a stream holds several times the data": (
        "tests/formats/test_streams.py::test_a_span_that_is_too_long_is_let_go_while_it_is_read",
        "tests/extract/test_packed.py::test_the_file_is_not_read_ahead",
    ),
    "dolma#139: shuffling changes nothing": (
        "tests/tokens/test_walk.py::test_epochs_seeds_and_domains_differ",
    ),
    "dolma#114: two taggers overwrite each other's values": (
        f"{_BUILD}::test_two_uses_of_a_step_keep_their_values_apart",
        "tests/corpus/test_settings.py::test_refuses_a_corpus_that_cannot_be",
    ),
    # -- reading
    "datatrove#278: gzip of several members": (
        "tests/extract/test_packed.py::test_members_follow_one_another",
        "tests/read/test_documents.py::test_dirty_input_loses_only_what_is_broken",
    ),
    "Daft#6520: only some formats survive a corrupt file": (
        f"{_BUILD}::test_a_broken_file_of_any_format_is_counted_and_the_rest_is_read",
    ),
    "ray#48236, #41196, arrow#7835: lines longer than a block, more than 4 GB of lines": (
        f"{_BUILD}::test_limits_that_are_met_everywhere_change_nothing",
        "tests/formats/test_streams.py::test_splitting_in_pieces_equals_splitting_the_whole",
    ),
    "datatrove#75: one page that takes too long ends everything": (
        f"{_BUILD}::test_a_page_that_hangs_or_crashes_is_one_damage",
        "tests/extract/test_guard.py::test_one_page_fails_and_the_others_go_on",
    ),
    "trafilatura#778: the fourth extraction of a page is empty": (
        "tests/extract/test_html.py::test_trafilatura_gives_the_same_page_the_same_text_every_time",
    ),
    "trafilatura#657, #189, #216, jusText#43: wide cells eat the memory, hangs, leaks": (
        f"{_BUILD}::test_pages_that_broke_extractors_are_kept_or_counted",
        "tests/extract/test_guard.py::test_a_page_is_innocent_until_a_fresh_process_fails",
    ),
    "resiliparse#39: a template in an svg crashes": (
        f"{_BUILD}::test_pages_that_broke_extractors_are_kept_or_counted",
        "tests/extract/test_guard.py::test_pages_that_broke_parsers_are_answered",
    ),
    "dirty: truncated .gz": (f"{_DIRTY}::test_a_truncated_gz",),
    "dirty: flipped bytes in a .gz": (f"{_DIRTY}::test_flipped_bytes_in_a_gz",),
    "dirty: garbage behind a .gz": (f"{_DIRTY}::test_garbage_behind_a_gz",),
    "dirty: a malformed line": (f"{_DIRTY}::test_a_malformed_line",),
    "dirty: one byte 0xFF near the top": (
        f"{_DIRTY}::test_one_wrong_byte_near_the_top",
        f"{_DIRTY}::test_a_wrong_byte_in_a_short_text_costs_that_text",
    ),
    "dirty: byte order mark, CRLF": (f"{_DIRTY}::test_a_byte_order_mark_and_crlf_are_no_damage",),
    "dirty: text that is a number, null or not there": (f"{_DIRTY}::test_texts_that_are_none",),
    "dirty: ids that are repeated": (
        f"{_DIRTY}::test_an_id_twice",
        f"{_DIRTY}::test_ids_that_are_blank_are_none",
    ),
    "dirty: a file of no bytes": (f"{_DIRTY}::test_an_empty_file",),
    "dirty: a lone surrogate": (f"{_DIRTY}::test_a_lone_surrogate",),
    "dirty: an empty document with thresholds at 0": (
        f"{_DIRTY}::test_empty_documents_with_every_threshold_at_zero",
    ),
    "dirty: documents of fewer than 5 words, two empty documents": (
        f"{_DIRTY}::test_empty_and_short_documents_never_match_each_other",
    ),
    "dirty: Chinese under the English splitter": (f"{_DIRTY}::test_chinese",),
    # -- rules
    "datatrove#273: blank lines count as copies": (
        f"{_COPIES}::test_blank_lines_are_no_copies_of_each_other",
    ),
    "dolma#148, data-prep-kit#1393, #1423: a rule divides by zero on an empty document": (
        f"{_DIRTY}::test_empty_documents_with_every_threshold_at_zero",
        "tests/rules/test_gopher_quality.py::test_without_words_no_ratio_breaks_a_rule",
        "tests/rules/test_settings.py::test_every_step_measures_as_many_values_as_it_names",
    ),
    "fastText#1181, #495, opik#8492: capitals and short texts get a wrong language, a line feed an error": (
        f"{_BUILD}::test_languages_of_capitals_short_texts_and_lines",
        "tests/quality/test_language.py::test_any_text_has_scores_in_range",
    ),
    # -- deduplication and decontamination
    "datatrove#107: fewer copies are found than the settings promise": (
        "tests/dedup/test_minhash.py::test_recall_is_that_of_theory",
    ),
    "datatrove#121, text-dedup#33, #14, #19, #73: cuts within a character, a word, Chinese; all copies go": (
        f"{_COPIES}::test_what_substrings_cuts_is_whole_words_and_letters",
        "tests/dedup/test_substrings.py::test_cuts_end_with_words_in_every_script",
        "tests/dedup/test_substrings.py::test_against_brute_force",
    ),
    "datatrove#249: the mark of an index is written as a document": (
        f"{_COPIES}::test_only_what_an_earlier_corpus_has_too_is_dropped_and_none_of_that_is_written",
        "tests/dedup/test_clusters.py::test_who_stays",
    ),
    "datatrove#370, #376: which document matched is unknown; nothing drops from one set only": (
        f"{_COPIES}::test_only_what_an_earlier_corpus_has_too_is_dropped_and_none_of_that_is_written",
        f"{_COPIES}::test_every_copy_says_what_it_is_a_copy_of",
        "tests/account/test_why.py::test_the_pair_is_the_evidence",
    ),
    "dolma#174: a decontamination marks nothing and does not say so": (
        f"{_COPIES}::test_a_decontamination_that_finds_nothing_says_what_it_looked_for",
    ),
    "dolma#150, #218, #96: deduplication finds nothing, or leaves nothing, in silence": (
        f"{_COPIES}::test_each_kind_of_copy_is_found_by_the_step_that_is_for_it",
        f"{_COPIES}::test_a_corpus_of_which_nothing_is_left_says_why",
    ),
    "text-dedup#77: documents below the least length vanish": (
        f"{_DIRTY}::test_empty_and_short_documents_never_match_each_other",
        "tests/dedup/test_minhash.py::test_a_document_with_fewer_words_than_a_shingle_is_not_signed",
    ),
    "text-dedup#129: without verification all of a cluster go": (
        f"{_COPIES}::test_one_of_a_cluster_stays_whether_pairs_are_verified_or_not",
    ),
    "text-dedup#71, #88, #28: one machine and many disagree; who stays is random": (
        "tests/dedup/test_clusters.py::test_nothing_depends_on_shards_ranges_or_order",
        "tests/corpus/test_build.py::test_the_size_of_shards_changes_no_document",
    ),
    "text-dedup#70: pairs that are not alike": (
        "tests/dedup/test_pairs.py::test_verified_pairs_are_exact_and_no_less_than_asked",
    ),
    "deduplicate-text-datasets#11, #34: tiny files fail; words are cut in half": (
        f"{_COPIES}::test_a_corpus_smaller_than_any_table",
        f"{_COPIES}::test_what_substrings_cuts_is_whole_words_and_letters",
    ),
    "dclm#83: deduplication on both levels removes nearly all": (
        f"{_COPIES}::test_deduplication_by_document_and_by_paragraph_in_one_recipe_keeps_what_is_there_once",
    ),
    "dclm#99, datasketch#19, #207, #206: memory by a share of the machine, or by a threshold": (
        "tests/dedup/test_contract.py::test_ranges_grow_with_the_corpus",
        "tests/test_corpus_at_scale.py::test_ranges_hold_all_records",
    ),
    "Curator#501: a second deduplication uses what the first remembered": (
        f"{_COPIES}::test_another_unit_in_the_same_place_uses_nothing_of_the_first",
        f"{_COPIES}::test_files_that_changed_between_two_builds_of_a_process_are_read_again",
        "tests/dedup/test_plan.py::test_shards_signed_otherwise_are_refused",
    ),
}
"""What went wrong elsewhere, with the project and its number -> the tests that show it does not here."""

NOT_SHOWN: dict[str, str] = {
    "datatrove#299, #216: no words on what each strategy does": "docs/corpus.md has them; no behaviour",
    "dolma#169: a tokenizer's memory grows": "shows in hours; tokens are made shard by shard",
    "Curator#723, #471, #59, #112, data-juicer#30, #646, #90, #474: terabytes of memory": (
        "sizes are computed in docs/corpus-at-scale.md; no such machine in a test"
    ),
    "ray#26441, #42479, #55008, Daft#5169: what a data engine spills, and cannot resume": (
        "tasks hand over files; no such engine is used"
    ),
    "presidio#1461, #1680, #1173: personal data found slowly and wrongly": "no step masks personal data yet",
}
"""What does not apply, or cannot be shown in a test, and why."""


@cache
def functions(path: str) -> set[str]:
    """The functions of a file of tests."""
    tree = ast.parse((house.ROOT / path).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_the_tests_that_are_named_exist() -> None:
    for fault, names in FAULTS.items():
        assert names, fault
        for path, test in (name.split("::") for name in names):
            assert test in functions(path), (fault, path, test)


def test_every_test_of_a_known_fault_is_in_the_list() -> None:
    named = {name for names in FAULTS.values() for name in names}
    for path in (_BUILD, _COPIES, _DIRTY):
        tests = {f"{path}::{name}" for name in functions(path) if name.startswith("test_")}
        assert tests <= named
