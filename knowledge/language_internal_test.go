package knowledge

import (
	"fmt"
	"testing"
)

// languages has pages of the languages whose words are stemmed by their script, and for each page a query that asks for
// it in other forms of its words.
var languages = map[string][][2]string{
	"Russian": {
		{"Сервер закрывает соединение после ошибки протокола.", "ошибка закрытого соединения"},
		{"Резервная копия базы данных создаётся каждую ночь.", "создание резервной копии"},
		{"Пользователи могут изменить свои пароли в настройках.", "изменение пароля пользователя"},
		{"Таблицы хранят строки, индексы ускоряют поиск.", "индекс таблицы"},
		{"Программа читает файлы и записывает журналы.", "чтение файла программой"},
		{"Новые версии библиотеки требуют обновления.", "новая версия библиотек"},
	},
	"Korean": {
		{"서버는 오류가 나면 연결을 닫습니다.", "서버에서 연결 오류"},
		{"데이터베이스의 백업은 매일 밤에 만들어집니다.", "데이터베이스 백업"},
		{"사용자는 설정에서 비밀번호를 바꿀 수 있습니다.", "사용자의 비밀번호 설정"},
		{"테이블은 행을 저장하고 색인은 검색을 빠르게 합니다.", "테이블에 색인"},
		{"프로그램이 파일을 읽고 기록을 남깁니다.", "프로그램에서 파일로"},
		{"라이브러리의 버전을 올려야 합니다.", "라이브러리 버전"},
	},
	"Arabic": {
		{"يغلق الخادم الاتصال بعد الخطأ في الشبكة.", "خادم اتصال شبكة"},
		{"تُحفظ نسخة من قاعدة البيانات كل ليلة.", "النسخة والبيانات"},
		{"يستطيع المستخدمون تغيير كلمة المرور.", "مستخدمين كلمات مرور"},
		{"الجداول تخزن الصفوف والفهرس يسرع البحث.", "فهرس وبحث"},
		{"البرنامج يقرأ الملفات ويكتب السجلات.", "برنامج ملفات سجلات"},
		{"المكتبات الجديدة تحتاج إلى التحديث.", "مكتبة تحديث"},
	},
}

func TestOtherFormsOfWordsAreFound(t *testing.T) {
	for language, pairs := range languages {
		var docs []*Document
		for i, pair := range pairs {
			docs = append(docs, doc(fmt.Sprintf("https://%s.test/%d", language, i), "", pair[0]))
		}
		x := openTestIndex(t, docs)
		indexAllOf(t, x, docs)
		words := 0
		for i, pair := range pairs {
			r, err := x.Search(t.Context(), Query{Text: pair[1], Explain: true})
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Hits) == 0 || r.Hits[0].URL != docs[i].URL {
				t.Errorf("%s: %q finds %+v first, want %s", language, pair[1], r.Hits, docs[i].URL)
				continue
			}
			for _, term := range r.Hits[0].Explain {
				if term.Field == "text" {
					words++
				}
			}
		}
		t.Logf("%s: %d words of the queries were found", language, words)
	}
}
